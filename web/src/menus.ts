// Menus are <details>, so they open without scripts; these close them again.

export function closeMenus(): void {
  const menus = [...document.querySelectorAll<HTMLDetailsElement>("details.menu")];
  document.addEventListener("click", (event) => {
    for (const menu of menus) {
      if (menu.open && event.target instanceof Node && !menu.contains(event.target)) {
        menu.open = false;
      }
    }
  });
  for (const menu of menus) {
    menu.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && menu.open) {
        menu.open = false;
        menu.querySelector("summary")?.focus();
      }
    });
    menu.addEventListener("focusout", (event) => {
      if (event.relatedTarget instanceof Node && !menu.contains(event.relatedTarget)) {
        menu.open = false;
      }
    });
    menu.addEventListener("toggle", () => {
      if (menu.open) {
        menu.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
      }
    });
  }
}
