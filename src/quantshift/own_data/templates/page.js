(() => {
"use strict";

const data = JSON.parse(document.getElementById("report-data").textContent);
const several = data.batches.length > 1;
const chosen = { label: data.headline, batch: data.batches.length - 1 };
const shown = (label) => data.names[label] ?? label;

const shareAxis = (title) => ({ title, axis: { format: ".0%", tickCount: 6 } });

function batchRows() {
  return data.batches.map((batch, order) => {
    const share = batch.shares.find((entry) => entry.label === chosen.label);
    return {
      order, batch: batch.name, items: batch.n_items, share: share.estimate, low: share.low, high: share.high,
      limits: batch.limits_are, range: batch.limits_are.startsWith("range"),
      changed: batch.change.includes(chosen.label), shift: Boolean(batch.shift && batch.shift.rejected),
    };
  });
}

function batchesSpec() {
  const names = data.batches.map((batch) => batch.name);
  const x = { field: "batch", type: "ordinal", sort: names, title: null, axis: { labelAngle: names.length > 8 ? -45 : 0, labelOverlap: true, grid: false } };
  const tooltip = [
    { field: "batch", type: "nominal" }, { field: "items", format: "," },
    { field: "share", format: ".1%" }, { field: "low", format: ".1%" }, { field: "high", format: ".1%" }, { field: "limits", type: "nominal" },
  ];
  const y = { field: "share", type: "quantitative", scale: { domain: [0, 1] }, ...shareAxis(`share of ${shown(chosen.label)}`) };
  const layers = [
    { mark: { type: "line", color: token("accent"), strokeWidth: 1, opacity: 0.5 }, encoding: { x, y } },
    { transform: [{ filter: "!datum.range" }], mark: { type: "rule", color: token("accent"), strokeWidth: 5, opacity: 0.35 }, encoding: { x, y: { ...y, field: "low" }, y2: { field: "high" }, tooltip } },
    { transform: [{ filter: "datum.range" }], mark: { type: "rule", color: token("accent"), strokeWidth: 3, strokeDash: [5, 4], opacity: 0.6 }, encoding: { x, y: { ...y, field: "low" }, y2: { field: "high" }, tooltip } },
    { mark: { type: "point", filled: true, size: 60, opacity: 1, color: token("accent") }, encoding: { x, y, tooltip } },
    { transform: [{ filter: "datum.changed" }], mark: { type: "point", size: 260, strokeWidth: 2, opacity: 1, color: token("bad") }, encoding: { x, y, tooltip } },
    { transform: [{ filter: "datum.shift" }], mark: { type: "point", shape: "triangle-up", filled: true, size: 90, opacity: 1, yOffset: -18, color: token("bad") }, encoding: { x, y, tooltip } },
  ];
  const known = data.training.prevalence[chosen.label];
  if (known !== undefined) {
    layers.unshift({ data: { values: [{ share: known }] }, mark: { type: "rule", strokeDash: [4, 4], color: token("muted") }, encoding: { y } });
    layers.push({ data: { values: [{ share: known, text: "in training" }] }, mark: { type: "text", align: "left", baseline: "bottom", x: 4, dy: -3, color: token("muted") }, encoding: { y, text: { field: "text" } } });
  }
  return { data: { values: batchRows() }, height: 300, layer: layers };
}

function assumptionsSpec() {
  const batch = data.batches[chosen.batch];
  const rows = batch.assumptions.map((entry) => ({
    name: entry.name, share: entry.prevalence[chosen.label], weight: entry.weight, ring: entry.refuted || entry.for_comparison,
    size: entry.weight ?? 0.5, says: entry.refuted ? "refuted" : entry.for_comparison ? "for comparison" : "possible",
  }));
  const share = batch.shares.find((entry) => entry.label === chosen.label);
  const names = rows.map((row) => row.name);
  const x = { field: "share", type: "quantitative", scale: { domain: [0, 1] }, ...shareAxis(`share of ${shown(chosen.label)}`) };
  const tooltip = [{ field: "name", type: "nominal" }, { field: "share", format: ".1%" }, { field: "says", type: "nominal" }];
  if (rows.some((row) => row.weight !== null)) tooltip.push({ field: "weight", format: ".0%" });
  return {
    height: 34 * Math.max(rows.length, 1),
    layer: [
      { data: { values: [share] }, mark: { type: "rect", color: token("accent"), opacity: 0.16 }, encoding: { x: { ...x, field: "low" }, x2: { field: "high" } } },
      {
        data: { values: rows.filter((row) => row.ring) },
        mark: { type: "point", filled: false, size: 40, strokeWidth: 1.5, opacity: 1, color: token("muted") },
        encoding: { x, y: { field: "name", type: "nominal", sort: names, title: null }, tooltip },
      },
      {
        data: { values: rows.filter((row) => !row.ring) },
        mark: { type: "point", filled: true, opacity: 0.9, color: token("accent") },
        encoding: {
          x, y: { field: "name", type: "nominal", sort: names, title: null }, tooltip,
          size: { field: "size", type: "quantitative", scale: { domain: [0, 1], range: [50, 420] }, legend: null },
        },
      },
      {
        data: { values: rows }, mark: { type: "text", align: "left", dx: 14, color: token("ink") },
        encoding: { x, y: { field: "name", type: "nominal", sort: names }, text: { field: "share", format: ".1%" } },
      },
    ],
  };
}

function groupsSpec() {
  const methods = Object.keys(data.groups.errors).sort((a, b) => data.groups.errors[a] - data.groups.errors[b]);
  const named = (method) => data.method_names[method] ?? method;
  const dots = data.groups.groups.flatMap((group) => methods.map((method) => (
    { method: named(method), group: group.name, rows: group.n_items, error: 100 * group.errors[method] })));
  const bars = methods.map((method) => (
    { method: named(method), error: 100 * data.groups.errors[method], used: method === data.groups.method }));
  const x = { field: "error", type: "quantitative", scale: { domainMin: 0, nice: true }, title: "absolute error in points", axis: { tickCount: 6 } };
  const y = { field: "method", type: "nominal", sort: methods.map(named), title: null };
  const color = { condition: { test: "datum.used", value: token("accent") }, value: token("muted") };
  return {
    height: 34 * methods.length,
    layer: [
      { data: { values: bars }, mark: { type: "bar", height: 16, opacity: 0.35 }, encoding: { x, y, color, tooltip: [{ field: "method", type: "nominal" }, { field: "error", format: ".1f", title: "mean error" }] } },
      { data: { values: dots }, mark: { type: "point", filled: true, size: 34, opacity: 0.75, color: token("ink") }, encoding: { x, y, tooltip: [{ field: "method", type: "nominal" }, { field: "group", type: "nominal" }, { field: "rows", format: "," }, { field: "error", format: ".1f" }] } },
    ],
  };
}

function changesSpec() {
  const rows = data.batches[chosen.batch].changes.map((entry) => ({ name: entry.name, size: entry.size, said: entry.said }));
  return {
    height: 26 * rows.length,
    data: { values: rows },
    mark: { type: "bar", color: token("accent"), opacity: 0.8, height: 14 },
    encoding: {
      x: { field: "size", type: "quantitative", scale: { domain: [0, 1] }, title: "how much it has changed", axis: { tickCount: 6 } },
      y: { field: "name", type: "nominal", sort: rows.map((row) => row.name), title: null },
      tooltip: [{ field: "name", type: "nominal" }, { field: "said", type: "nominal" }, { field: "size", format: ".2f" }],
    },
  };
}

function scoresSpec() {
  const batch = data.batches[chosen.batch];
  const sample = batch.scores[chosen.label] ?? [];
  const width = 1 / Math.max(sample.length, 1);
  const bars = sample.map((share, i) => ({ from: i * width, to: (i + 1) * width, share }));
  const lines = Object.entries(data.training.scores[chosen.label] ?? {}).flatMap(([label, shares]) =>
    shares.map((share, i) => ({ label: `training: ${shown(label)}`, middle: (i + 0.5) * width, share })));
  const y = { field: "share", type: "quantitative", ...shareAxis("share of items") };
  const x = { type: "quantitative", scale: { domain: [0, 1] }, title: `posterior of ${shown(chosen.label)}`, axis: { grid: false, tickCount: 6 } };
  const palette = ["#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
  return {
    height: 240,
    layer: [
      { data: { values: bars }, mark: { type: "rect", color: token("bar"), stroke: token("paper") }, encoding: { x: { ...x, field: "from" }, x2: { field: "to" }, y, y2: { datum: 0 }, tooltip: [{ field: "share", format: ".1%" }] } },
      { data: { values: lines }, mark: { type: "line", strokeWidth: 2, interpolate: "monotone" }, encoding: { x: { ...x, field: "middle" }, y, color: { field: "label", type: "nominal", scale: { range: palette } }, strokeDash: { field: "label", type: "nominal" } } },
    ],
  };
}

function draw(identifier, spec) {
  const place = document.getElementById(identifier);
  if (!place) return;
  const whole = { width: place.parentElement.clientWidth - 2, autosize: { type: "fit-x", contains: "padding" }, ...spec };
  vegaEmbed(place, whole, { actions: false, renderer: "svg", config: config(), tooltip: { theme: "custom" } });
}

/** A chart of nothing is not shown at all. */
function drawIf(identifier, some, spec) {
  document.getElementById(identifier).parentElement.hidden = !some;
  if (some) draw(identifier, spec());
}

function drawAll() {
  if (several) draw("plot-batches", batchesSpec());
  const batch = data.batches[chosen.batch];
  drawIf("plot-assumptions", batch.assumptions.length, assumptionsSpec);
  if (data.groups) draw("plot-groups", groupsSpec());
  drawIf("plot-changes", batch.changes.length, changesSpec);
  drawIf("plot-scores", (batch.scores[chosen.label] ?? []).length, scoresSpec);
  for (const part of document.querySelectorAll("[data-of]")) part.hidden = Number(part.dataset.of) !== chosen.batch;
}

document.querySelector("[data-label]")?.addEventListener("change", (event) => {
  chosen.label = data.classes[Number(event.target.value)];
  drawAll();
});
document.querySelector("[data-batch]")?.addEventListener("change", (event) => {
  chosen.batch = Number(event.target.value);
  drawAll();
});

follow(drawAll);
})();
