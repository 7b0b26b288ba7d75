// The page's contract with these scripts: data attributes and JSON beside charts.

/** Returns all elements that carry a data attribute, such as "data-live". */
export function withAttribute(name: string, root: ParentNode = document): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>(`[${name}]`)];
}

/** Returns the data of a chart; a page without it is a fault of the server. */
export function jsonOf(id: string): unknown {
  const text = document.getElementById(id)?.textContent;
  if (text === undefined || text === null) {
    throw new Error(`no data with the id ${id}`);
  }
  return JSON.parse(text);
}
