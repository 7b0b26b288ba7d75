/** Sends a form of one choice when it is made; its button is hidden by CSS. */
export function submitOnChange(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-auto-submit]")) {
    form.addEventListener("change", () => form.requestSubmit());
  }
}
