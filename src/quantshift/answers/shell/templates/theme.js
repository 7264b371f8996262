"use strict";

/** The button that switches between the light and the dark look; the choice is kept. */
(() => {
const button = document.getElementById("theme");
const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";

function remember(theme) {
  // Pages opened from a folder may not have local storage.
  try { localStorage.setItem("quantshift-theme", theme); } catch { /* then only for this visit */ }
}

function show() {
  button.setAttribute("aria-pressed", String(isDark()));
  button.querySelector("span").textContent = isDark() ? "Light" : "Dark";
}

try {
  const kept = localStorage.getItem("quantshift-theme");
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
} catch { /* use the system's theme */ }
button.addEventListener("click", () => {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  remember(theme);
  show();
});
dark.addEventListener("change", show);
show();
})();

