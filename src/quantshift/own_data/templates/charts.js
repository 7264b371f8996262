"use strict";

const token = (name) => `var(--${name})`;

/** Colours are variables of the page, so that the charts follow its theme. */
function config(labelLimit = 160) {
  return {
    font: getComputedStyle(document.body).getPropertyValue("--sans"),
    background: null,
    view: { stroke: null },
    axis: {
      domain: false, ticks: false, gridColor: token("rule"), labelColor: token("muted"),
      titleColor: token("muted"), labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal",
      labelPadding: 8, titlePadding: 12, labelLimit,
    },
    legend: { labelColor: token("muted"), titleColor: token("muted"), labelFontSize: 12, orient: "top", title: null },
  };
}

/** Draws, and again whenever the width of the page changes; the button turns it dark or light. */
function follow(draw) {
  const theme = document.getElementById("theme");
  const setTheme = (dark) => {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    theme.setAttribute("aria-pressed", String(dark));
  };
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  theme.addEventListener("click", () => setTheme(theme.getAttribute("aria-pressed") !== "true"));

  let pending = 0;
  let drawn = document.body.clientWidth;
  addEventListener("resize", () => {
    if (document.body.clientWidth === drawn) return;
    drawn = document.body.clientWidth;
    cancelAnimationFrame(pending);
    pending = requestAnimationFrame(draw);
  });
  draw();
}
