// The button that changes the colours: automatic, light, dark. theme.js applies
// the choice on the next page before it is painted.

const KEY = "fstally-theme";
const WORDS = { auto: "automatic", light: "light", dark: "dark" };
type Theme = keyof typeof WORDS;

/** Calls back when the colours have changed: by the button, the system or print. */
export function onThemeChange(changed: () => void): void {
  document.addEventListener("themechange", changed);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", changed);
  }
}

export function themeButton(): void {
  const button = document.getElementById("theme");
  if (!button) {
    return;
  }
  const chosen = document.documentElement.dataset["theme"];
  let theme: Theme = chosen === "light" || chosen === "dark" ? chosen : "auto";
  const say = (): void => {
    const words = `Colours: ${WORDS[theme]}`;
    button.setAttribute("aria-label", words);
    button.title = words;
  };
  say();
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = next(theme);
    apply(theme);
    say();
    document.dispatchEvent(new Event("themechange"));
  });
}

/** Goes first to the theme that looks different from the present one. */
function next(theme: Theme): Theme {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const order: Theme[] = dark ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
  return order[(order.indexOf(theme) + 1) % order.length] ?? "auto";
}

function apply(theme: Theme): void {
  if (theme === "auto") {
    delete document.documentElement.dataset["theme"];
  } else {
    document.documentElement.dataset["theme"] = theme;
  }
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Storage can be forbidden; the choice then lasts as long as the page.
  }
}
