// Sorts the rows of a table by a column, in the browser: for tables that hold all
// of their rows. Rows that sum the others stay at the end.
import { withAttribute } from "./page";

type Key = bigint | string | undefined;

export function sortableTables(): void {
  for (const table of withAttribute("data-sortable")) {
    const body = table.querySelector("tbody");
    const heads = [...table.querySelectorAll<HTMLElement>("thead th")];
    if (!body || rowsOf(body).length < 2) {
      continue;
    }
    const given = rowsOf(body);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const order = next(head.getAttribute("aria-sort"));
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        if (order === undefined) {
          place(body, given);
          return;
        }
        head.setAttribute("aria-sort", order);
        place(body, sorted(given, column, order));
      });
    });
  }
}

/** The largest first, then the smallest, then as the server had it. */
function next(order: string | null): "descending" | "ascending" | undefined {
  if (order === null) {
    return "descending";
  }
  return order === "descending" ? "ascending" : undefined;
}

function rowsOf(body: Element): HTMLTableRowElement[] {
  return [...body.querySelectorAll<HTMLTableRowElement>(":scope > tr:not(.others)")];
}

function place(body: Element, rows: HTMLTableRowElement[]): void {
  body.prepend(...rows);
}

function sorted(rows: HTMLTableRowElement[], column: number, order: string): HTMLTableRowElement[] {
  const sign = order === "descending" ? -1 : 1;
  const keyed = rows.map((row) => ({ row, key: keyOf(row.cells[column]) }));
  keyed.sort((a, b) => {
    if (a.key === undefined || b.key === undefined) {
      return Number(a.key === undefined) - Number(b.key === undefined); // what is not known comes last
    }
    return sign * compare(a.key, b.key);
  });
  return keyed.map(({ row }) => row);
}

function compare(a: bigint | string, b: bigint | string): number {
  if (typeof a === "bigint" && typeof b === "bigint") {
    return a < b ? -1 : Number(a > b);
  }
  // Names from A to Z first, as the first click on a number has the largest.
  return String(b).localeCompare(String(a), undefined, { numeric: true });
}

/** A share has this many steps of a percent. */
const SHARE_STEPS = 100;

/** What a cell is sorted by: its exact number, which the title has, or its text. */
function keyOf(cell: HTMLElement | undefined): Key {
  const exact = /^([+−-]?)([\d,]+) (?:bytes|files|inodes)/.exec(cell?.title ?? "");
  if (exact) {
    const value = BigInt((exact[2] ?? "0").replace(/,/g, ""));
    return exact[1] === "+" || exact[1] === "" ? value : -value;
  }
  const text = cell?.textContent?.trim() ?? "";
  if (text === "–" || text === "") {
    return undefined;
  }
  const share = /^(<?)([\d.]+)%/.exec(text);
  if (share) {
    return BigInt(Math.round(Number(share[2]) * SHARE_STEPS)) - (share[1] ? 1n : 0n);
  }
  return /^[\d,]+$/.test(text) ? BigInt(text.replace(/,/g, "")) : text;
}
