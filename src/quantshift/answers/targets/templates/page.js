(() => {
"use strict";

/** Show the tables of the chosen batch. */
const chooser = document.querySelector("[data-batch]");
chooser?.addEventListener("change", () => {
  for (const part of document.querySelectorAll("[data-of]")) {
    part.hidden = part.dataset.of !== chooser.value;
  }
});
})();
