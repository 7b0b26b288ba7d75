// Shows what a form would mean while it is filled in: asks the server for the page that
// its Preview button leads to, and takes the preview out of it.

const AFTER = 300; // ms without a change

export function livePreviews(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-preview-form]")) {
    let timer = 0;
    let asked = 0;
    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        const turn = ++asked;
        void preview(form, () => turn === asked);
      }, AFTER);
    });
  }
}

async function preview(form: HTMLFormElement, isLatest: () => boolean): Promise<void> {
  const params = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string") {
      params.set(name, value);
    }
  }
  const answer = await fetch(`${form.action}?${params.toString()}`, { cache: "no-store" }).catch(() => undefined);
  if (!answer?.ok) {
    return; // the button tells why
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("[data-preview]");
  if (fresh && isLatest()) {
    document.querySelector("[data-preview]")?.replaceWith(document.importNode(fresh, true));
  }
}
