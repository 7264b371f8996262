(() => {
"use strict";

const data = JSON.parse(document.getElementById("report-data").textContent);
const several = data.batches.length > 1;
const chosen = { label: data.headline, batch: data.first_batch };
const classIndex = () => data.classes.indexOf(chosen.label);
const shown = (label) => data.names[label] ?? label;

/** The most batches of a sequence that are all named, and the pixels that a turned name needs. */
const MOST_NAMED = 60;
const LABEL_WIDTH = 15;

/** The intervals of a share: one, or two of which one holds. */
const partsOf = (share) => (share.either.length ? share.either : [share]);

function batchRows() {
  return data.batches.map((batch, order) => {
    const share = batch.shares.find((entry) => entry.label === chosen.label);
    return {
      order, batch: asKey(data.batch_names[order]), items: batch.n_items, share: share.estimate, low: share.low, high: share.high, parts: partsOf(share),
      limits: data.kinds[batch.grounds.kind], range: data.ranges.includes(batch.grounds.kind) && !share.either.length,
      changed: batch.change.includes(chosen.label), shift: data.significant_shift[order],
    };
  });
}

function batchesSpec() {
  const rows = batchRows();
  const known = data.training.prevalence[chosen.label];
  const thresholds = data.thresholds.filter((entry) => entry.label === chosen.label);
  const title = `share of ${shown(chosen.label)}`;
  const names = data.batch_names.map(asKey);
  const turned = names.length > 8 || Math.max(...names.map((name) => name.length)) * names.length > 90;
  // Groups are all named, if need be on a chart that is wider than the page; of many dates some are.
  const named_all = !data.in_sequence || names.length <= MOST_NAMED;
  const room = document.getElementById("plot-batches").parentElement.clientWidth - 2;
  const width = Math.max(room, named_all ? LABEL_WIDTH * names.length + 80 : 0);
  const labelAngle = !turned ? 0 : names.length > 20 ? -90 : -45;
  const x = {
    field: "batch", type: "ordinal", sort: names, title: null,
    axis: { labelAngle, labelAlign: turned ? "right" : "center", labelBaseline: labelAngle === -90 ? "middle" : "top", labelOverlap: !named_all, grid: false },
  };
  const format = shareFormat(rows.map((row) => row.share));
  const tooltip = [
    { field: "batch", type: "nominal" }, { field: "items", format: "," },
    { field: "share", format }, { field: "low", format }, { field: "high", format }, { field: "limits", type: "nominal" },
  ];
  const values = rows.flatMap((row) => [row.share, row.high]).concat(known ?? [], thresholds.map((entry) => entry.bound));
  const y = { field: "share", type: "quantitative", ...shareAxis(title, values) };
  const line = (share, { color, strokeDash }) => (
    { data: { values: [{ share }] }, mark: { type: "rule", strokeDash, color, strokeWidth: 1.5 }, encoding: { y } });
  // Lines are named above the chart, where no dot or bar can be in the way.
  const named = [
    ...(known === undefined ? [] : [`dashed line: share in training, ${percent(known)}`]),
    ...thresholds.map((entry) => `long dashes: threshold ${entry.text}`),
  ];
  const training = { color: token("muted"), strokeDash: [4, 4] };
  const limit = { color: token("bad"), strokeDash: [8, 3] };
  const limits = { y: { ...y, field: "low" }, y2: { field: "high" } };
  // A layer without marks would be an empty group, which screen readers announce.
  const bars = rows.flatMap((row) => row.parts.map((part) => ({ ...row, low: part.low, high: part.high })));
  const layerOf = (wanted, mark, encoding, entries = rows) => {
    const values = entries.filter(wanted);
    return values.length ? [{ data: { values }, mark, encoding: { x, tooltip, ...encoding } }] : [];
  };
  const layers = [
    {
      data: { values: [rows[chosen.batch]] },
      mark: { type: "bar", width: { band: 0.9 }, color: token("shade"), opacity: 0.8 },
      encoding: { x, y: { value: 0 }, y2: { value: 300 } },
    },
    ...(known === undefined ? [] : [line(known, training)]),
    ...thresholds.map((entry) => line(entry.bound, limit)),
    ...(data.in_sequence ? [{ mark: { type: "line", color: token("accent"), strokeWidth: 1, opacity: 0.5 }, encoding: { x, y } }] : []),
    ...layerOf((row) => !row.range, { type: "rule", color: token("accent"), strokeWidth: 5, opacity: 0.35 }, limits, bars),
    ...layerOf((row) => row.range, { type: "rule", color: token("accent"), strokeWidth: 3, strokeDash: [5, 4], opacity: 0.6 }, limits, bars),
    ...layerOf((row) => row.share !== null, { type: "point", filled: true, size: 60, opacity: 1, color: token("accent") }, { y }),
    ...layerOf((row) => row.changed, { type: "point", size: 260, strokeWidth: 2, opacity: 1, color: token("bad") }, { y }),
    ...layerOf((row) => row.shift, { type: "point", shape: "triangle-up", filled: true, size: 90, opacity: 1, yOffset: -18, color: token("bad") }, { y }),
  ];
  const summary = rows.length <= 12 ? rows.map((row) => `${row.batch}: ${row.parts.length > 1 ? row.parts.map((part) => `${percent(part.low)} to ${percent(part.high)}`).join(" or ") : percent(row.share)}`).join("; ") : `${rows.length} batches, listed in the table below`;
  const described = `Chart of the ${title} by ${data.by ?? "batch"}. ${summary}.`;
  const named_lines = { text: named, anchor: "start", frame: "group", fontSize: 12, fontWeight: "normal", color: token("muted"), offset: 10 };
  return { described, width, data: { values: rows }, height: 300, layer: layers, ...(named.length ? { title: named_lines } : {}) };
}

function assumptionsSpec() {
  const batch = data.batches[chosen.batch];
  const rows = batch.alternatives.map((entry) => ({
    name: data.conditions[entry.assumption], share: entry.prevalence[chosen.label], weight: entry.weight, ring: entry.refuted || entry.for_comparison,
    size: entry.weight ?? 0.5, says: entry.refuted ? "contradicted" : entry.for_comparison ? "for comparison" : "possible",
  }));
  const share = batch.shares.find((entry) => entry.label === chosen.label);
  // Names are broken into short lines, which the axis shows one below the other.
  for (const row of rows) row.lines = row.name.replace(/(.{18,}?) /g, "$1|");
  const lines = rows.map((row) => row.lines);
  const values = rows.map((row) => row.share).concat(share.high, share.estimate ?? []);
  // Leave room for the text beside the last dot.
  const x = { field: "share", type: "quantitative", ...shareAxis(`share of ${shown(chosen.label)}`, values, document.body.clientWidth < 600 ? 1.35 : 1.15) };
  const summary = rows.map((row) => `${row.name}: ${percent(row.share)}, ${row.says}`).join("; ");
  const format = shareFormat(rows.map((row) => row.share));
  const tooltip = [{ field: "name", type: "nominal" }, { field: "share", format }, { field: "says", type: "nominal" }];
  if (rows.some((row) => row.weight !== null)) tooltip.push({ field: "weight", format: ".0%" });
  const y = { field: "lines", type: "nominal", sort: lines, title: null, axis: { labelExpr: "split(datum.label, '|')" } };
  const dots = (values, mark, extra) => (values.length ? [{ data: { values }, mark, encoding: { x, y, tooltip, ...extra } }] : []);
  return {
    described: `Chart of the share of ${shown(chosen.label)} under each assumption. ${summary}.`,
    height: Math.max(34, ...lines.map((name) => 14 * name.split("|").length)) * Math.max(rows.length, 1),
    layer: [
      { data: { values: partsOf(share) }, mark: { type: "rect", color: token("accent"), opacity: 0.16 }, encoding: { x: { ...x, field: "low" }, x2: { field: "high" } } },
      ...dots(rows.filter((row) => row.ring), { type: "point", filled: false, size: 40, strokeWidth: 1.5, opacity: 1, color: token("muted") }, {}),
      ...dots(rows.filter((row) => !row.ring), { type: "point", filled: true, opacity: 0.9, color: token("accent") }, {
        size: { field: "size", type: "quantitative", scale: { domain: [0, 1], range: [50, 420] }, legend: null },
      }),
      {
        data: { values: rows }, mark: { type: "text", align: "left", dx: 14, color: token("ink") },
        encoding: { x, y, text: { field: "share", format } },
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
  const summary = methods.map((method) => `${named(method)} ${(100 * data.groups.errors[method]).toFixed(1)}`).join("; ");
  return {
    described: `Chart of the errors of each method on each group. Mean errors in points: ${summary}.`,
    height: 34 * methods.length,
    layer: [
      { data: { values: bars }, mark: { type: "bar", height: 16, opacity: 0.35 }, encoding: { x, y, color, tooltip: [{ field: "method", type: "nominal" }, { field: "error", format: ".1f", title: "mean error" }] } },
      { data: { values: dots }, mark: { type: "point", filled: true, size: 34, opacity: 0.75, color: token("ink") }, encoding: { x, y, tooltip: [{ field: "method", type: "nominal" }, { field: "group", type: "nominal" }, { field: "rows", format: "," }, { field: "error", format: ".1f" }] } },
    ],
  };
}

function leftOutSpec() {
  const at = classIndex();
  const rows = data.left_out.map((group) => ({
    group: asKey(group.name), truth: group.truth[at], estimate: group.estimate[at], low: group.low?.[at] ?? null, high: group.high?.[at] ?? null,
  }));
  const x = { field: "estimate", type: "quantitative", ...shareAxis("share", rows.flatMap((row) => [row.truth, row.estimate, row.high ?? 0])) };
  const y = { field: "group", type: "nominal", sort: rows.map((row) => row.group), title: null };
  const tooltip = [{ field: "group", type: "nominal" }, ...["estimate", "low", "high", "truth"].map((field) => ({ field, format: ".1%" }))];
  const ranges = rows.filter((row) => row.low !== null);
  const summary = rows.length <= 12 ? rows.map((row) => `${row.group}: ${percent(row.estimate)}, true ${percent(row.truth)}`).join("; ") : `${rows.length} groups`;
  return {
    described: `Chart of the estimated and the true share of every group. ${summary}.`,
    height: 24 * rows.length,
    layer: [
      ...(ranges.length ? [{ data: { values: ranges }, mark: { type: "rule", color: token("accent"), strokeWidth: 3, strokeDash: [5, 4], opacity: 0.6 }, encoding: { x: { ...x, field: "low" }, x2: { field: "high" }, y, tooltip } }] : []),
      { data: { values: rows }, mark: { type: "point", filled: true, size: 60, opacity: 1, color: token("accent") }, encoding: { x, y, tooltip } },
      { data: { values: rows }, mark: { type: "point", shape: "diamond", filled: true, size: 80, opacity: 1, color: token("ink") }, encoding: { x: { ...x, field: "truth" }, y, tooltip } },
    ],
  };
}

function performanceRows() {
  return data.batches.flatMap((batch, order) => {
    if (!batch.performance) return [];
    const find = (values) => values.find((entry) => entry.measure === "accuracy" && entry.label === null);
    const value = find(batch.performance.as_trained);
    const corrected = find(batch.performance.corrected);
    return [{
      batch: asKey(data.batch_names[order]), accuracy: value.estimate, low: value.low, high: value.high, training: value.training,
      corrected: corrected?.estimate ?? null, range: data.ranges.includes(batch.performance.kind),
    }];
  });
}

function performanceSpec() {
  const rows = performanceRows();
  const names = rows.map((row) => row.batch);
  const known = rows[0].training;
  const format = ".0%";
  const values = rows.flatMap((row) => [row.high, row.corrected ?? 0]).concat(known);
  const x = { field: "accuracy", type: "quantitative", ...shareAxis("accuracy", values) };
  const y = { field: "batch", type: "nominal", sort: names, title: null };
  const tooltip = ["accuracy", "low", "high", "corrected"].map((field) => ({ field, format }));
  const layerOf = (wanted, mark, encoding) => {
    const chosenRows = rows.filter(wanted);
    return chosenRows.length ? [{ data: { values: chosenRows }, mark, encoding: { y, tooltip, ...encoding } }] : [];
  };
  const limits = { x: { ...x, field: "low" }, x2: { field: "high" } };
  const summary = rows.length <= 12 ? rows.map((row) => `${row.batch}: ${percent(row.accuracy)}`).join("; ") : `${rows.length} batches, listed in the table below`;
  return {
    described: `Chart of the accuracy of the classifier. In training ${percent(known)}. ${summary}.`,
    height: 28 * rows.length,
    title: { text: [`dashed line: in training, ${percent(known)}`], anchor: "start", frame: "group", fontSize: 12, fontWeight: "normal", color: token("muted"), offset: 10 },
    layer: [
      { data: { values: [{ accuracy: known }] }, mark: { type: "rule", strokeDash: [4, 4], color: token("muted"), strokeWidth: 1.5 }, encoding: { x } },
      ...layerOf((row) => !row.range, { type: "rule", color: token("accent"), strokeWidth: 5, opacity: 0.35 }, limits),
      ...layerOf((row) => row.range, { type: "rule", color: token("accent"), strokeWidth: 3, strokeDash: [5, 4], opacity: 0.6 }, limits),
      ...layerOf(() => true, { type: "point", filled: true, size: 60, opacity: 1, color: token("accent") }, { x }),
      ...layerOf((row) => row.corrected !== null, { type: "point", shape: "diamond", filled: true, size: 80, opacity: 1, color: token("ink") }, { x: { ...x, field: "corrected" } }),
    ],
  };
}

function changesSpec() {
  const rows = data.batches[chosen.batch].changes.map((entry) => ({ name: asKey(entry.name), size: entry.size, description: entry.description }));
  const summary = rows.map((row) => `${row.name} ${row.size.toFixed(2)}`).join("; ");
  return {
    described: `Chart of how much each column has changed: ${summary}.`,
    height: 26 * rows.length,
    data: { values: rows },
    mark: { type: "bar", color: token("accent"), opacity: 0.8, height: 14 },
    encoding: {
      x: { field: "size", type: "quantitative", scale: { domain: shareDomain(rows.map((row) => row.size)), nice: false }, title: "size of the change (at most 1)", axis: { tickCount: 4, labelOverlap: true } },
      y: { field: "name", type: "nominal", sort: rows.map((row) => row.name), title: null },
      tooltip: [{ field: "name", type: "nominal" }, { field: "description", type: "nominal" }, { field: "size", format: ".2f" }],
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
  const y = { field: "share", type: "quantitative", ...shareAxis("share of items", [...bars, ...lines].map((row) => row.share)) };
  const x = { type: "quantitative", scale: { domain: [0, 1] }, title: `predicted probability of ${shown(chosen.label)}`, axis: { grid: false, tickCount: 6 } };
  const labels = [...new Set(lines.map((row) => row.label))];
  // With more classes than colours, the colours repeat with another dash pattern.
  const dashes = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 1]];
  const each = (range) => ({ domain: labels, range: labels.map((_, i) => range[i % range.length]) });
  return {
    described: `Chart of the distribution of the predicted probability of ${shown(chosen.label)}, in the batch and in each class of the training set.`,
    height: 240,
    layer: [
      { data: { values: bars }, mark: { type: "rect", color: token("bar"), stroke: token("paper") }, encoding: { x: { ...x, field: "from" }, x2: { field: "to" }, y, y2: { datum: 0 }, tooltip: [{ field: "share", format: ".1%" }] } },
      // Without training there are no lines, and a legend without entries has no finite height.
      ...(lines.length ? [{ data: { values: lines }, mark: { type: "line", strokeWidth: 2, interpolate: "monotone" }, encoding: { x: { ...x, field: "middle" }, y, color: { field: "label", type: "nominal", scale: each(data.colours) }, strokeDash: { field: "label", type: "nominal", scale: each(dashes) } } }] : []),
    ],
  };
}

/** Hides a chart without data. */
function drawIf(identifier, some, spec) {
  document.getElementById(identifier).parentElement.hidden = !some;
  if (some) draw(identifier, spec());
}

async function drawBatches() {
  const { view } = await draw("plot-batches", batchesSpec());
  view.addEventListener("click", (_event, item) => {
    if (item?.datum?.order !== undefined) chooseBatch(item.datum.order);
  });
}

function drawAll() {
  if (several) drawBatches();
  const batch = data.batches[chosen.batch];
  drawIf("plot-assumptions", batch.alternatives.length, assumptionsSpec);
  if (data.groups) draw("plot-left-out", leftOutSpec());
  if (data.groups) draw("plot-groups", groupsSpec());
  if (performanceRows().length) draw("plot-performance", performanceSpec());
  drawIf("plot-changes", batch.changes.length, changesSpec);
  drawIf("plot-scores", (batch.scores[chosen.label] ?? []).length, scoresSpec);
}

/** Updates the whole page for the chosen class and batch. */
function show() {
  const found = data.found[chosen.batch][classIndex()];
  tell(data.of_all.length ? data.of_all[classIndex()] : found);
  const place = document.getElementById("batch-found");
  if (place) place.textContent = `${found.heading} (${found.limits}). ${found.lead}`;
  showOnly("of", chosen.batch);
  mark("row", chosen.batch);
  mark("class", classIndex());
  drawAll();
}

function chooseBatch(number) {
  chosen.batch = number;
  document.querySelector("[data-batch]").value = String(number);
  show();
}

document.querySelector("[data-label]").addEventListener("change", (event) => {
  chosen.label = data.classes[Number(event.target.value)];
  show();
});
document.querySelector("[data-batch]")?.addEventListener("change", (event) => chooseBatch(Number(event.target.value)));

follow(drawAll);
})();
