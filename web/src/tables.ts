import { withAttribute } from "./page";

/** Shows the buttons that change a chart for its table and back. */
export function tableButtons(): void {
  for (const button of withAttribute("data-table")) {
    const holder = document.querySelector(`[data-switch="${CSS.escape(button.dataset["table"] ?? "")}"]`);
    if (!holder) {
      continue; // the table is always there
    }
    button.hidden = false;
    button.addEventListener("click", () => {
      const shown = holder.classList.toggle("as-table");
      button.setAttribute("aria-pressed", String(shown));
    });
  }
}
