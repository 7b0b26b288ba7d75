// Runs before the first paint: says that scripts run, and applies the colours
// that the viewer has chosen, so that no page flashes in the other ones.
(function () {
  var root = document.documentElement;
  root.classList.add("js");
  try {
    var theme = localStorage.getItem("fstally-theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch (e) {
    // Storage can be forbidden; the colours then follow the system.
  }
})();
