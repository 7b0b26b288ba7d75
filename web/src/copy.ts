// Copies the address of the page, which holds everything that the page shows, or
// a call of the API that gives the numbers of a card.
import { withAttribute } from "./page";

const SAY_FOR = 2000; // ms

export function copyButtons(): void {
  for (const button of withAttribute("data-copy")) {
    const words = [...button.childNodes];
    button.hidden = false;
    button.setAttribute("aria-live", "polite");
    button.addEventListener("click", () => {
      const call = button.dataset["copy"];
      void copy(call ? command(call) : location.href).then((done) => {
        button.textContent = done ? "Copied" : "Copying is not allowed here";
        setTimeout(() => button.replaceChildren(...words), SAY_FOR);
      });
    });
  }
}

/** A command for a shell, where TOKEN is set as the README says. */
function command(path: string): string {
  const address = new URL(path, location.href).href.replace(/'/g, "%27");
  return `curl -H "Authorization: Bearer $TOKEN" '${address}'`;
}

/** Browsers give the clipboard to https and localhost alone; the old way goes everywhere. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "hidden";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}
