// Numbers as the server shows them: the same convention as usage.FormatBytes and
// usage.FormatCount of Go. Exact values come as decimal digits, because they can
// be more than a JavaScript number holds.

const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];
const COUNT_UNITS = ["", "k", "M", "G", "T"];

/** Shows bytes in IEC units; never rounds up into a unit that is not reached. */
export function formatBytes(digits: string): string {
  const value = BigInt(digits);
  let unit = 0;
  while (unit < BYTE_UNITS.length - 1 && value >= 1024n ** BigInt(unit + 1)) {
    unit++;
  }
  if (unit === 0) {
    return `${value} B`;
  }
  const limit = unit < BYTE_UNITS.length - 1 ? 1023.9 : Infinity;
  return `${oneDecimal(Number(value) / 1024 ** unit, limit)} ${BYTE_UNITS[unit]}`;
}

/** Shows a count in full under 10,000, then with k, M, G (10^9) or T. */
export function formatCount(digits: string): string {
  const value = Number(digits);
  if (value < 10_000) {
    return digits;
  }
  const unit = Math.min(COUNT_UNITS.length - 1, Math.floor((digits.length - 1) / 3));
  const limit = unit < COUNT_UNITS.length - 1 ? 999.9 : Infinity;
  return `${oneDecimal(value / 1000 ** unit, limit)} ${COUNT_UNITS[unit]}`;
}

/** Puts commas between the thousands. */
export function groupDigits(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

function oneDecimal(value: number, limit: number): string {
  return Math.min(value, limit).toFixed(1).replace(/\.0$/, "");
}

/** How an axis shows its values: as floats in the unit that suits the largest. */
export interface Scale {
  /** Whether the unit is one file or byte, of which there are no parts. */
  whole: boolean;
  of(digits: string): number;
  label(value: number): string;
}

/** Returns the scale for values of which these are some, bytes or counts. */
export function scaleFor(bytes: boolean, digits: Iterable<string>): Scale {
  let largest = 0n;
  for (const d of digits) {
    const value = BigInt(d);
    if (value > largest) {
      largest = value;
    }
  }
  const base = bytes ? 1024n : 1000n;
  const units = bytes ? BYTE_UNITS : COUNT_UNITS;
  let unit = 0;
  while (unit < units.length - 1 && largest >= base ** BigInt(unit + 1)) {
    unit++;
  }
  // A few thousand files are no "2.5 k".
  if (!bytes && unit === 1 && largest < 10_000n) {
    unit = 0;
  }
  const divisor = Number(base) ** unit;
  const name = units[unit] ?? "";
  return {
    whole: unit === 0,
    of: (d) => Number(BigInt(d)) / divisor,
    label: (value) => (value === 0 ? "0" : `${Number(value.toFixed(2))} ${name}`.trimEnd()),
  };
}
