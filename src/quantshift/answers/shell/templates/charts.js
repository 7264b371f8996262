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
    legend: { labelColor: token("muted"), titleColor: token("muted"), labelFontSize: 12, orient: "top", title: null, columns: document.body.clientWidth < 600 ? 1 : 0 },
  };
}

/** A name that Vega can use as a key of a plain object: "constructor" is one of every object. */
const asKey = (name) => (name in {} ? `${name}\u200b` : name);

/** The domain of an axis of shares that begins at 0 and contains all these values. */
function shareDomain(values, room = 1.06) {
  const largest = Math.max(0, ...values.filter((value) => Number.isFinite(value)));
  return [0, Math.min(1, Math.max(largest * room, 0.01))];
}

const shareAxis = (title, values, room) => ({
  title, scale: { domain: shareDomain(values, room), nice: false },
  axis: { format: shareDomain(values, room)[1] < 0.05 ? ".1%" : ".0%", tickCount: 6 },
});
/** The same number of decimals for all these shares, enough to show small ones. */
const shareFormat = (values) => (values.some((value) => value > 0 && value < 0.01) ? ".2%" : ".1%");
const percent = (share) => (share === null ? "unknown" : `${(100 * share).toFixed(1)}%`);

/** Fills in the headline, its limits and the numbers at the top of the page. */
function tell(found) {
  // Non-breaking hyphens keep dates on one line.
  document.getElementById("heading").textContent = found.heading.replaceAll("-", "\u2011");
  document.getElementById("limits").textContent = found.limits.charAt(0).toUpperCase() + found.limits.slice(1);
  document.getElementById("lead").textContent = found.lead;
  document.getElementById("numbers").replaceChildren(...found.numbers.map(([name, value]) => {
    const row = document.createElement("div");
    for (const [tag, text] of [["dt", name], ["dd", value]]) {
      row.append(Object.assign(document.createElement(tag), { textContent: text }));
    }
    return row;
  }));
}

/** Shows one of several parts and hides the others. */
function showOnly(attribute, chosen) {
  for (const part of document.querySelectorAll(`[data-${attribute}]`)) {
    part.hidden = Number(part.dataset[attribute]) !== chosen;
  }
}

function mark(attribute, chosen) {
  for (const row of document.querySelectorAll(`[data-${attribute}]`)) {
    row.classList.toggle("chosen", Number(row.dataset[attribute]) === chosen);
  }
}

/** Draws a chart and describes it for screen readers. */
async function draw(identifier, { described, ...spec }, labelLimit) {
  const place = document.getElementById(identifier);
  const turn = String(Number(place.dataset.turn ?? 0) + 1);
  place.dataset.turn = turn;
  place.setAttribute("aria-label", described);
  const whole = { width: place.parentElement.clientWidth - 2, autosize: { type: "fit-x", contains: "padding" }, ...spec };
  // Drawn in an inner element, because Vega would overwrite the description of the outer one.
  const holder = document.createElement("div");
  const result = await vegaEmbed(holder, whole, { actions: false, renderer: "svg", config: config(labelLimit), tooltip: { theme: "custom" } });
  if (place.dataset.turn === turn) place.replaceChildren(holder);
  return result;
}

/** Draws now and whenever the page width changes. */
function follow(draw) {
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
