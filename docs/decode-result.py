#!/usr/bin/env python3
"""Prints the records of a result of `fstally scan --out`, and checks the trailer.

An example for docs/result-format.md: a reader in little more than a page. It reads
what fstally writes (definite lengths only) and holds all of it in memory.
"""

import hashlib
import subprocess
import sys

KINDS = ["?", "meta", "counters", "cells", "sizes", "ages", "nodes", "links",
         "errors", "skipped", "categories", "filesets", "identities", "trailer"]


def decode(data, at):
    """Returns the CBOR item that starts at data[at], and where the next one starts."""
    major, low = data[at] >> 5, data[at] & 31
    at += 1
    if low < 24:
        n = low
    elif low < 28:
        width = 1 << (low - 24)
        n = int.from_bytes(data[at:at + width], "big")
        at += width
    else:
        raise ValueError("indefinite length")
    if major == 0:
        return n, at
    if major == 1:
        return -1 - n, at
    if major in (2, 3):
        if at + n > len(data):
            raise IndexError("cut short")
        item = data[at:at + n]
        return (item if major == 2 else item.decode()), at + n
    if major == 4:
        items = []
        for _ in range(n):
            item, at = decode(data, at)
            items.append(item)
        return items, at
    if major == 6 and n == 2:  # unsigned bignum
        digits, at = decode(data, at)
        return int.from_bytes(digits, "big"), at
    if major == 7 and n in (20, 21, 22):
        return {20: False, 21: True, 22: None}[n], at
    raise ValueError(f"not used in results: major type {major}, {n}")


def main(path):
    with open(path, "rb") as f:
        if f.readline() != b"fstally result 1\n":
            sys.exit("not a result of version 1")
        packed = f.read()
    data = subprocess.run(["zstd", "-dc"], input=packed, stdout=subprocess.PIPE, check=True).stdout
    at, records, digest = 0, 0, hashlib.sha256()
    while True:
        (kind, body), end = decode(data, at)
        print(KINDS[kind], body)
        if kind == 13:
            break
        digest.update(data[at:end])
        at, records = end, records + 1
    good = body == [records, digest.digest()] and end == len(data)
    print("complete and unchanged" if good else "DAMAGED")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
