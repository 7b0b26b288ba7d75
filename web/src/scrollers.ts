/**
 * Lets the keyboard reach what has to be scrolled, and only that. Browsers do so
 * by themselves of late; older ones need the hint.
 */
export function reachScrollers(): void {
  const watch = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight) {
        target.setAttribute("tabindex", "0");
      } else {
        target.removeAttribute("tabindex");
      }
    }
  });
  for (const scroller of document.querySelectorAll(".scroll")) {
    watch.observe(scroller);
  }
}
