(() => {
"use strict";

const data = JSON.parse(document.getElementById("report-data").textContent);
const chosen = { label: data.headline, series: data.newest };
const shown = (label) => data.names[label] ?? label;

const isMean = () => chosen.label === data.mean;

/** What a value is, in words for the axis and for tooltips. */
function quantity() {
  if (isMean()) return { axis: "mean", value: "mean" };
  if (chosen.label === data.accuracy) return { axis: shown(chosen.label), value: shown(chosen.label) };
  return { axis: `share of ${shown(chosen.label)}`, value: "share" };
}

const batches = () => data.series[chosen.series].batches[chosen.label];

/** The values that must be seen: limits of intervals, of the band, and thresholds. */
function domain(rows, thresholds) {
  const values = rows.flatMap((row) => [row.low, row.high, row.control_low, row.control_high]).filter((value) => value !== null);
  const bounds = thresholds.map((threshold) => threshold.bound);
  if (!values.length && !bounds.length) return [0, 1];
  const low = Math.min(...values, ...bounds), high = Math.max(...values, ...bounds);
  const space = 0.06 * (high - low || 0.1);
  return isMean() ? [low - space, high + space] : [Math.max(0, low - space), Math.min(1, high + space)];
}

function spec(pixels) {
  const rows = batches();
  const thresholds = data.thresholds.filter((threshold) => threshold.label === chosen.label);
  const scale = { domain: domain(rows, thresholds), zero: false, nice: false };
  const x = { field: "date", type: "temporal", scale: { type: "utc" }, title: null, axis: { grid: false, labelOverlap: true, format: "%d %b %y", tickCount: 6 } };
  const format = isMean() ? ".2f" : ".2%";
  const y = (field) => ({ field, type: "quantitative", scale, title: quantity().axis, axis: { format: isMean() ? "~r" : "~%", tickCount: 6 } });
  const tooltip = [
    { field: "batch", type: "nominal" }, { field: "items", format: "," },
    { field: "share", format, title: quantity().value }, { field: "low", format }, { field: "high", format }, { field: "limits", type: "nominal" },
    { field: "smoothed", format, title: "average" }, { field: "marks", type: "nominal" }, { field: "model", type: "nominal" },
  ];
  const room = pixels / rows.length;
  const width = Math.min(Math.max(0.35 * room, 0.8), 5);
  const size = Math.min(Math.max(4 * room, 8), 36);
  const layer = (test, mark, encoding, entries = rows) => ({ data: { values: entries.filter(test) }, mark, encoding });
  // Two intervals of which one holds are two bars.
  const bars = rows.flatMap((row) => row.parts.map((part) => ({ ...row, low: row.low === null ? null : part.low, high: part.high })));
  const interval = { x, y: y("low"), y2: { field: "high" }, tooltip };
  const layers = [
    layer((row) => row.control_low !== null, { type: "area", color: token("good"), opacity: 0.16, interpolate: "step" }, { x, y: y("control_low"), y2: { field: "control_high" } }),
    layer((row) => row.new_model, { type: "rule", color: token("ink"), strokeDash: [2, 3], opacity: 0.7 }, { x, tooltip: [{ field: "batch", type: "nominal" }, { field: "model", type: "nominal", title: "new model" }] }),
    layer((row) => row.low !== null && !row.range, { type: "rule", color: token("accent"), strokeWidth: width, opacity: 0.3 }, interval, bars),
    layer((row) => row.low !== null && row.range, { type: "rule", color: token("accent"), strokeWidth: 1.5, strokeDash: [5, 4], opacity: 0.7 }, interval, bars),
    layer((row) => row.share !== null, { type: "point", filled: true, size, opacity: 1, color: token("accent") }, { x, y: y("share"), tooltip }),
    layer((row) => row.smoothed !== null, { type: "line", color: token("open"), strokeWidth: 2 }, { x, y: y("smoothed") }),
    layer((row) => row.alarm, { type: "point", size: 90, strokeWidth: 2, opacity: 1, color: token("bad") }, { x, y: y("smoothed"), tooltip }),
    layer((row) => row.shift && row.share !== null, { type: "point", shape: "triangle-up", filled: true, size: 60, opacity: 1, yOffset: -14, color: token("bad") }, { x, y: y("share"), tooltip }),
    layer((row) => row.audited && row.share !== null, { type: "point", shape: "square", size: 110, strokeWidth: 1.5, opacity: 1, color: token("ink") }, { x, y: y("share"), tooltip }),
  ].filter((entry) => entry.data.values.length);
  const centre = data.series[chosen.series].centres[chosen.label];
  const lines = thresholds.map((threshold) => ({ ...threshold, kind: "bad" }));
  if (centre !== undefined && centre !== null) lines.push({ bound: centre, text: "usual", kind: "muted" });
  for (const line of lines) {
    const values = [{ ...line }];
    layers.push({ data: { values }, mark: { type: "rule", strokeDash: [6, 4], color: token(line.kind), opacity: 0.8 }, encoding: { y: y("bound") } });
    layers.push({ data: { values }, mark: { type: "text", align: "right", baseline: "bottom", x: "width", dx: -4, dy: -3, color: token(line.kind) }, encoding: { y: y("bound"), text: { field: "text" } } });
  }
  return { height: 340, layer: layers };
}

function draw() {
  const place = document.getElementById("plot-series");
  const width = place.parentElement.clientWidth - 2;
  const whole = { width, autosize: { type: "fit-x", contains: "padding" }, ...spec(width) };
  vegaEmbed(place, whole, { actions: false, renderer: "svg", config: config(), tooltip: { theme: "custom" } });
  for (const part of document.querySelectorAll("[data-of]")) part.hidden = Number(part.dataset.of) !== chosen.series;
}

document.querySelector("[data-label]")?.addEventListener("change", (event) => {
  chosen.label = data.quantities[Number(event.target.value)];
  draw();
});
document.querySelector("[data-series]")?.addEventListener("change", (event) => {
  chosen.series = Number(event.target.value);
  draw();
});

follow(draw);
})();
