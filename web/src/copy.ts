// Copies the address of the page, which holds everything that the page shows.
import { withAttribute } from "./page";

const SAY_FOR = 2000; // ms

export function copyButtons(): void {
  for (const button of withAttribute("data-copy")) {
    const words = button.textContent ?? "";
    button.hidden = false;
    button.setAttribute("aria-live", "polite");
    button.addEventListener("click", () => {
      void copy(location.href).then((done) => {
        button.textContent = done ? "Copied" : "Copy it from the address bar";
        setTimeout(() => {
          button.textContent = words;
        }, SAY_FOR);
      });
    });
  }
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
