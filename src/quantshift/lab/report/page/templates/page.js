(() => {
"use strict";

const data = JSON.parse(document.getElementById("report-data").textContent);
const OPEN = data.open;
const MEASURE = data.measure;
const NAMES = data.methods.map((method) => method.name);
const NARROW = 560;
const CROWDED = 7;
const COARSE = matchMedia("(pointer: coarse)").matches;
const chosen = new Set();
const charts = [];

const VIEWS = {
  lines: { label: "Error by degree", rows: "errors", spec: linesSpec },
  boxes: { label: "Distribution", rows: "errors", spec: boxesSpec },
  bias: { label: "Bias by degree", rows: "errors", spec: biasSpec },
  diagonal: { label: "True and estimated", rows: "diagonal", spec: diagonalSpec },
  published: { label: "Published and ours", rows: "published", spec: publishedSpec },
};

// ---------------------------------------------------------------- rows of a chart

/** Plain rows of the chosen slice; groups without figures are included as gaps. */
function rowsOf(chart) {
  if (chart.view === "published") return publishedRows(chart.section);
  const table = tableOf(chart);
  const columns = table.columns;
  const wanted = table.coordinates.map((name) => [columns[name], chosenValue(chart, name)]);
  const degree = chart.view === "boxes" ? chosenValue(chart, "degree") : OPEN;
  const figures = Object.keys(columns).filter((name) => data.figures.includes(name));
  const rows = [];
  for (let i = 0; i < columns.method.length; i++) {
    if (!chosen.has(columns.method[i])) continue;
    if (wanted.some(([column, value]) => column[i] !== value)) continue;
    const x = columns.x[i] === OPEN ? null : table.x[columns.x[i]];
    if (degree !== OPEN && x !== chart.section.degrees[degree]) continue;
    const panel = columns.panel ? columns.panel[i] : 0;
    const row = {
      panel: chart.section.panels[panel], x, method: NAMES[columns.method[i]],
      n: columns.n[i], expected: columns.expected ? columns.expected[i] : columns.n[i],
    };
    for (const name of figures) {
      row[name] = columns[name][i] === null ? null : columns[name][i] * data.unit;
    }
    rows.push(row);
  }
  return rows;
}

function publishedRows(section) {
  const { columns } = section.published;
  return columns.method
    .map((method, i) => ({
      panel: "", method: NAMES[method], x: columns.theirs[i] * data.unit,
      theirs: columns.theirs[i] * data.unit, ours: columns.ours[i] * data.unit,
      row: section.published.rows[columns.row[i]], index: method,
    }))
    .filter((row) => chosen.has(row.index));
}

/** Adds an empty row for every position that a method lacks, so that lines break there. */
function withGaps(rows) {
  const positions = [...new Set(rows.map((row) => row.x))];
  const present = new Set(rows.map((row) => JSON.stringify([row.panel, row.method, row.x])));
  const gaps = [];
  for (const panel of new Set(rows.map((row) => row.panel))) {
    for (const method of new Set(rows.map((row) => row.method))) {
      for (const x of positions) {
        if (!present.has(JSON.stringify([panel, method, x]))) gaps.push({ panel, method, x });
      }
    }
  }
  return rows.concat(gaps).sort((a, b) => a.x - b.x);
}

/** The data of a view; the bias of several classes has a table of its own. */
function tableOf(chart) {
  return chart.view === "bias" && chart.section.bias ? chart.section.bias : chart.section[VIEWS[chart.view].rows];
}

function chosenValue(chart, name) {
  return chart.selection[name] ?? (name === "class" ? 0 : OPEN);
}

// ---------------------------------------------------------------- charts, declared

/** Colours: CSS variables on screen, so that they follow the theme; fixed colours in a file. */
function look(file) {
  const token = (name, plain) => (file ? plain : `var(--${name})`);
  const muted = token("muted", "#565b63");
  return {
    ink: token("ink", "#1c1e21"), muted, rule: token("rule", "#e2ded5"),
    methods: data.methods.map((method, i) => token(`m${i}`, method.light)),
    config: {
      font: file ? "Helvetica, Arial, sans-serif" : getComputedStyle(document.body).getPropertyValue("--sans"),
      background: file ? "#ffffff" : null,
      view: { stroke: null },
      axis: {
        domain: false, ticks: false, gridColor: token("rule", "#e2ded5"), gridWidth: 1,
        labelColor: muted, titleColor: muted, labelFontSize: 12, titleFontSize: 12,
        titleFontWeight: "normal", labelPadding: 8, titlePadding: 12,
      },
      header: { labelColor: token("ink", "#1c1e21"), labelFontSize: 13, labelFontWeight: 600, title: null },
      legend: { labelColor: muted, titleColor: muted, labelFontSize: 12, symbolSize: 80 },
    },
  };
}

function byMethod(style, file) {
  const names = [...chosen].sort((a, b) => a - b);
  const scale = (values) => ({ domain: names.map((i) => NAMES[i]), range: names.map((i) => values[i]) });
  const legend = file
    ? { title: null, orient: "bottom", direction: "horizontal", columns: 7, labelLimit: 0, symbolOpacity: 1, symbolStrokeWidth: 2 }
    : null;
  const channel = (values) => ({ field: "method", type: "nominal", scale: scale(values), legend });
  return {
    color: channel(style.methods),
    shape: channel(data.methods.map((method) => method.shape)),
    strokeDash: channel(data.methods.map((method) => method.dash)),
  };
}

/** Zooming and panning with shift and wheel, drag and double click; buttons do the same. */
function zoom(encodings) {
  const drag = "[pointerdown, window:pointerup] > window:pointermove!";
  return {
    name: "zoom", bind: "scales",
    select: {
      type: "interval", encodings, zoom: "wheel![event.shiftKey]",
      translate: COARSE ? false : drag, clear: "dblclick",
    },
  };
}

const hover = {
  name: "hover",
  select: { type: "point", fields: ["method"], on: "pointerover", clear: "pointerout" },
};
const faded = (strong, weak, atRest = strong) => ({
  condition: [{ param: "hover", empty: false, value: strong }, { test: "!length(data('hover_store'))", value: atRest }],
  value: weak,
});

function frame(chart, rows, spec, { width, height, columns, facet, file }) {
  const style = look(file);
  const base = {
    data: { values: rows }, config: style.config,
    title: file ? { text: chart.section.title, subtitle: caption(chart, rows), anchor: "start", offset: 14, subtitlePadding: 6 } : undefined,
    padding: file ? 20 : { left: 2, right: 8, top: 8, bottom: 2 },
  };
  if (!facet) {
    return { ...base, width: width - 12, height, autosize: { type: "fit", contains: "padding" }, ...spec };
  }
  const panelWidth = Math.max(90, Math.floor((width - 70 - 22 * (columns - 1)) / columns));
  return {
    ...base, columns, spacing: 22,
    facet: { field: facet.field, type: "nominal", sort: facet.sort, header: { title: null } },
    spec: { width: panelWidth, height, ...spec },
  };
}

function panelFacet(chart) {
  const panels = chart.section.panels;
  return panels.length > 1 ? { field: "panel", sort: panels } : null;
}

/** About as high as wide, because both axes have the same scale. */
function square(chart, room) {
  if (chart.section.panels.length > 1) return room;
  const width = Math.min(room.width, 620);
  return { ...room, width, height: Math.max(280, Math.round(width * 0.82)) };
}

const degreeTitle = (chart) => {
  if (!chart.section.degree) return "degree of shift";
  const lines = ["degree of shift", `(${chart.section.degree})`];
  return chart.width < NARROW ? lines : lines.join(" ");
};
const degreeAxis = (chart) => ({
  field: "x", type: "quantitative", scale: { nice: false, padding: 14, zero: false },
  axis: { title: degreeTitle(chart), grid: false, labelOverlap: true, values: chart.section.errors.x },
});
/** Room for the markers of the first and last values, which would be clipped at the edge. */
const margin = { nice: false, padding: 8 };
const number = (field, title) => ({ field, title, type: "quantitative", format: ".4f" });
const counts = { field: "n", title: "estimates", type: "quantitative", format: ",d" };
const about = (field, title) => [
  { field: "method", title: "method", type: "nominal" },
  { field, title, type: "quantitative", format: ".3~f" },
];

function trends(chart, rows, room, { field, title, band, veil, tooltip, below, x, y }) {
  const style = look(room.file);
  const channels = byMethod(style, room.file);
  const vertical = { field, type: "quantitative", title, ...y };
  const layers = [
    ...below(style),
    {
      mark: { type: "area", clip: true, tooltip: null },
      encoding: {
        x, y: { ...vertical, field: band[0] }, y2: { field: band[1] },
        color: channels.color, opacity: faded(...(veil ?? [0.11, 0.03])),
      },
    },
    {
      params: [zoom(["x", "y"])],
      mark: { type: "line", strokeWidth: 2, clip: true, strokeCap: "butt" },
      encoding: { x, y: vertical, color: channels.color, strokeDash: channels.strokeDash, opacity: faded(1, 0.2) },
    },
    {
      params: [hover],
      mark: { type: "point", filled: true, size: 46, clip: true, opacity: 1 },
      encoding: { x, y: vertical, color: channels.color, shape: channels.shape, opacity: faded(1, 0.2), tooltip },
    },
  ];
  const facet = panelFacet(chart);
  const columns = room.width < NARROW ? 1 : 2;
  return frame(chart, rows, { layer: layers }, { ...room, facet, columns });
}

function linesSpec(chart, rows, room) {
  return trends(chart, withGaps(rows), room, {
    field: "mean", title: `mean ${MEASURE}`, band: ["low", "high"], below: () => [],
    // Limits of many methods would hide the lines, so they are shown on hover only.
    veil: chosen.size > CROWDED ? [0.2, 0, 0] : undefined,
    x: degreeAxis(chart), y: { scale: { zero: true, ...margin }, axis: { tickCount: 6 } },
    tooltip: [
      ...about("x", "degree"), number("mean", "mean error"), number("low", "95% from"),
      number("high", "to"), number("median", "median"), counts,
    ],
  });
}

const rule = (encoding, style) => ({
  data: { values: [{}] }, mark: { type: "rule", color: style.muted, strokeDash: [3, 4], clip: true }, encoding,
});

function biasSpec(chart, rows, room) {
  return trends(chart, withGaps(rows), room, {
    field: "bias", title: "mean of estimated − true", band: ["bias", "bias"],
    below: (style) => [rule({ y: { datum: 0 } }, style)],
    x: degreeAxis(chart), y: { scale: margin, axis: { tickCount: 6 } },
    tooltip: [
      ...about("x", "degree"), number("bias", "bias"),
      ...(chart.section.bias ? [] : [number("mean", "mean error")]), counts,
    ],
  });
}

const TENTHS = Array.from({ length: 11 }, (_, i) => i / 10);

function diagonalSpec(chart, rows, room) {
  const spread = rows.map((row) => ({
    ...row, below: row.p_hat === null ? null : row.p_hat - row.deviation,
    above: row.p_hat === null ? null : row.p_hat + row.deviation,
  }));
  const unit = (title, extra) => ({ title, scale: { domain: [-0.02, 1.02], nice: false }, axis: { values: TENTHS, ...extra } });
  return trends(chart, withGaps(spread), square(chart, room), {
    field: "p_hat", title: "estimated prevalence", band: ["below", "above"],
    // Spreads of many methods would hide each other, so they are shown on hover only.
    veil: [0.2, 0, chosen.size <= 2 ? 0.15 : 0],
    below: (style) => [
      {
        data: { values: [{ t: 0 }, { t: 1 }] },
        mark: { type: "line", color: style.muted, strokeDash: [3, 4], strokeWidth: 1, clip: true },
        encoding: { x: { field: "t", type: "quantitative" }, y: { field: "t", type: "quantitative" } },
      },
    ],
    x: { field: "x", type: "quantitative", ...unit("true prevalence", { grid: false, labelOverlap: "parity" }) },
    y: unit("estimated prevalence"),
    tooltip: [
      ...about("p_true", "true"), number("p_hat", "estimated, mean"),
      number("deviation", "standard deviation"), counts,
    ],
  });
}

function boxesSpec(chart, rows, room) {
  const style = look(room.file);
  const { color } = byMethod(style, room.file);
  const single = !chart.section.errors.x.length || (chart.selection.degree ?? OPEN) !== OPEN;
  const panels = chart.section.panels;
  const x = single
    ? { field: "method", type: "nominal", sort: NAMES, title: null, axis: chosen.size > 8 ? { labelAngle: -40, labelAlign: "right", labelLimit: 140 } : { labelAngle: 0 } }
    : {
        // The definition of the degree does not fit below the panels; the caption has it.
        field: "x", type: "ordinal", title: "degree of shift",
        axis: { labelAngle: 0, labelOverlap: "parity", labelSeparation: 6, labelExpr: "format(datum.value, '.3~f')" },
      };
  const offset = panels.length > 1 ? { xOffset: { field: "panel", sort: panels } } : {};
  const hollow = panels.length > 1
    ? { fillOpacity: { condition: { test: { field: "panel", equal: panels[0] }, value: 0.45 }, value: 0 } }
    : { fillOpacity: { value: 0.35 } };
  const encoding = { x, ...offset, color: { ...color, legend: null } };
  const y = (field, extra) => ({
    y: { field, type: "quantitative", title: MEASURE, axis: { tickCount: 5 }, ...extra },
  });
  const tooltip = [
    { field: "method", title: "method", type: "nominal" },
    ...(panels.length > 1 ? [{ field: "panel", title: "samples", type: "nominal" }] : []),
    { field: "x", title: "degree", type: "quantitative", format: ".3~f" },
    number("median", "median"), number("q1", "lower quartile"), number("q3", "upper quartile"),
    number("whisker_low", "whisker from"), number("whisker_high", "to"), number("mean", "mean error"), counts,
  ];
  const layer = [
    { mark: { type: "rule", clip: true }, encoding: { ...encoding, ...y("whisker_low"), y2: { field: "q1" } } },
    { mark: { type: "rule", clip: true }, encoding: { ...encoding, ...y("q3"), y2: { field: "whisker_high" } } },
    {
      params: [zoom(["y"])],
      mark: { type: "bar", strokeWidth: 1.2, clip: true, width: { band: 0.72 } },
      encoding: { ...encoding, ...hollow, ...y("q1"), y2: { field: "q3" }, stroke: { ...color, legend: null }, tooltip },
    },
    { mark: { type: "tick", thickness: 2, clip: true, width: { band: 0.72 } }, encoding: { ...encoding, ...y("median") } },
  ];
  const drawn = rows.filter((row) => row.median !== null).sort((a, b) => a.x - b.x);
  if (single) return frame(chart, drawn, { layer }, { ...room, facet: null });
  const many = chosen.size > 12;
  const columns = room.width < NARROW ? (many ? 2 : 1) : room.width < 820 ? 2 : many ? 4 : 3;
  const facet = { field: "method", sort: NAMES };
  return frame(chart, drawn, { layer }, { ...room, facet, columns, height: many ? 130 : 190 });
}

function publishedSpec(chart, rows, room) {
  const style = look(room.file);
  const channels = byMethod(style, room.file);
  const axis = (field, title) => ({ field, type: "quantitative", title, scale: { type: "sqrt", zero: true }, axis: { tickCount: 8 } });
  const layer = [
    {
      data: { values: [{ t: 0 }, { t: Math.max(0, ...rows.map((row) => Math.max(row.ours, row.theirs))) }] },
      mark: { type: "line", color: style.muted, strokeDash: [3, 4], strokeWidth: 1, clip: true },
      encoding: { x: { field: "t", type: "quantitative" }, y: { field: "t", type: "quantitative" } },
    },
    {
      params: [zoom(["x", "y"]), hover],
      mark: { type: "point", filled: true, size: 40, clip: true },
      encoding: {
        x: axis("theirs", "published mean absolute error"), y: axis("ours", "ours"),
        color: channels.color, shape: channels.shape, opacity: faded(0.8, 0.1),
        tooltip: [
          { field: "method", title: "method", type: "nominal" },
          { field: "row", title: "table row", type: "nominal" },
          number("theirs", "published"), number("ours", "ours"),
        ],
      },
    },
  ];
  return frame(chart, rows, { layer }, { ...square(chart, room), facet: null });
}

// ---------------------------------------------------------------- what a chart says in words

function caption(chart, rows) {
  const fixed = visibleControls(chart)
    .filter((entry) => chosenValue(chart, entry.name) !== OPEN)
    .map((entry) => `${entry.label} ${entry.texts[chosenValue(chart, entry.name)]}`);
  const words = {
    lines: `Mean ${MEASURE}; the bands are 95% limits from resampled training sets`,
    boxes: `${MEASURE[0].toUpperCase()}${MEASURE.slice(1)}: median, quartiles and whiskers of 1.5 interquartile ranges`,
    bias: "Mean of estimated minus true prevalence; above the line, estimates are too high",
    diagonal: "Mean estimate by true prevalence; the dotted line is a perfect quantifier. Hover over a method for its standard deviation",
    published: "Mean absolute errors, one point per row of the published tables; on the dotted line they agree",
  }[chart.view];
  const panels = chart.view === "boxes" && chart.section.panels.length > 1
    ? ` (filled: ${chart.section.panels[0]}; hollow: ${chart.section.panels[1]})` : "";
  const degree = chart.view === "boxes" && chart.section.degree ? ` Degree: ${chart.section.degree}.` : "";
  const hint = chart.view === "lines" && chosen.size > CROWDED ? ". Hover over a method for its limits" : "";
  const scope = fixed.length ? ` Only ${fixed.join(", ")}.` : "";
  return `${words}${panels}${hint}.${degree}${scope}`;
}

function gapNote(rows) {
  const lacking = new Map();
  for (const row of rows) {
    if (row.n < row.expected) lacking.set(row.method, (lacking.get(row.method) ?? 0) + 1);
  }
  return [...lacking]
    .map(([method, n]) => `${method}: ${n} ${n === 1 ? "point is" : "points are"} left out, because some estimates are missing.`)
    .join(" ");
}

// ---------------------------------------------------------------- drawing

function visibleControls(chart) {
  if (chart.view === "published") return [];
  const table = tableOf(chart);
  return chart.section.coordinates.filter((entry) =>
    entry.name === "degree"
      ? chart.view === "boxes" || table.coordinates.includes("degree")
      : table.coordinates.includes(entry.name));
}

function showControls(chart) {
  const visible = new Set(visibleControls(chart).map((entry) => entry.name));
  for (const label of chart.element.querySelectorAll("[data-coordinate]")) {
    label.hidden = !visible.has(label.dataset.coordinate);
  }
}

async function draw(chart) {
  chart.dirty = false;
  chart.turn += 1;
  const turn = chart.turn;
  const rows = rowsOf(chart);
  const width = chart.plot.clientWidth;
  chart.width = width;
  chart.note.textContent = gapNote(rows);
  chart.caption.textContent = caption(chart, rows);
  chart.plot.setAttribute("aria-label", describe(chart, rows));
  const full = rows.some((row) => [row.mean, row.bias, row.p_hat, row.ours].some((value) => value != null));
  chart.empty.hidden = full;
  if (!full) {
    chart.empty.textContent = chosen.size
      ? "No method has results here." : "Choose a method above to see its results.";
    chart.result?.finalize();
    chart.result = null;
    chart.plot.replaceChildren();
    chart.plot.dataset.drawn = String(turn);
    return;
  }
  const height = Math.round(Math.min(420, Math.max(280, width * 0.5)));
  const spec = VIEWS[chart.view].spec(chart, rows, { width, height, file: false });
  const holder = document.createElement("div");
  const result = await vegaEmbed(holder, spec, {
    mode: "vega-lite", actions: false, renderer: "svg", tooltip: showTooltip, defaultStyle: false,
  });
  if (turn !== chart.turn) {
    result.finalize();
    return;
  }
  chart.result?.finalize();
  chart.result = result;
  chart.plot.replaceChildren(holder);
  chart.plot.dataset.drawn = String(turn);
}

function describe(chart, rows) {
  const field = { lines: "mean", boxes: "median", bias: "bias" }[chart.view];
  const methods = [...new Set(rows.map((row) => row.method))];
  const base = `${chart.section.title}: ${VIEWS[chart.view].label.toLowerCase()} of ${methods.join(", ") || "no method"}.`;
  if (!field) return base;
  const withResults = rows.filter((row) => row[field] !== null);
  const ranges = methods.map((method) => {
    const values = withResults.filter((row) => row.method === method).map((row) => row[field]);
    return values.length
      ? `${method} ${Math.min(...values).toFixed(3)} to ${Math.max(...values).toFixed(3)}` : `${method} without results`;
  });
  return `${base} ${ranges.join("; ")}.`;
}

const sight = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const chart = charts.find((candidate) => candidate.plot === entry.target);
    chart.seen = entry.isIntersecting;
    if (chart.seen && chart.dirty) draw(chart);
  }
}, { rootMargin: "400px" });

function redraw(list = charts) {
  showCount();
  for (const chart of list) chart.dirty = true;
  for (const chart of list) if (chart.seen) draw(chart);
  whenIdle(drawRest);
}

const whenIdle = (task) =>
  window.requestIdleCallback ? requestIdleCallback(task, { timeout: 4000 }) : setTimeout(task, 300);

/** Charts outside the viewport are drawn one by one, so that they can be printed and searched. */
async function drawRest() {
  const next = charts.find((chart) => chart.dirty);
  if (!next) return;
  await draw(next);
  whenIdle(drawRest);
}

// ---------------------------------------------------------------- tooltip

const tip = document.getElementById("tooltip");

function showTooltip(_handler, event, _item, value) {
  if (value === null || value === undefined || value === "" || typeof value !== "object") {
    tip.hidden = true;
    return;
  }
  tip.replaceChildren();
  const list = document.createElement("dl");
  for (const [name, content] of Object.entries(value)) {
    const term = document.createElement("dt");
    const detail = document.createElement("dd");
    term.textContent = name;
    detail.textContent = String(content);
    list.append(term, detail);
  }
  tip.append(list);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, innerWidth - box.width - 8);
  const top = event.clientY + 14 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 14;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${Math.max(8, top)}px`;
}
addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

// ---------------------------------------------------------------- zoom by buttons

function zoomBy(chart, factor) {
  const view = chart.result?.view;
  if (!view) return;
  const signals = view.getState({ signals: (name) => name.startsWith("zoom_"), data: () => false }).signals;
  for (const axis of ["x", "y"]) {
    const signal = Object.keys(signals).find((name) => name === axisSignal(chart, axis));
    if (!signal) continue;
    let domain = null;
    if (factor !== null) {
      const [low, high] = currentDomain(view, axis);
      const middle = (low + high) / 2, half = ((high - low) / 2) * factor;
      domain = [middle - half, middle + half];
      // Errors start at 0, which must stay visible.
      if (axis === "y" && chart.view === "lines") domain = [low * factor, high * factor];
    }
    view.signal(signal, domain);
  }
  view.runAsync();
}

function axisSignal(chart, axis) {
  const fields = {
    lines: { x: "x", y: "mean" }, bias: { x: "x", y: "bias" }, boxes: { y: "q1" },
    diagonal: { x: "x", y: "p_hat" }, published: { x: "theirs", y: "ours" },
  }[chart.view];
  return `zoom_${fields[axis]}`;
}

function currentDomain(view, axis) {
  const domain = view.scale(axis).domain();
  return [domain[0], domain[domain.length - 1]];
}

// ---------------------------------------------------------------- downloads

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function csv(rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
    .filter((name) => name !== "index" && (name !== "panel" || rows.some((row) => row.panel)));
  const quoted = (value) => {
    const text = value === null || value === undefined ? ""
      : typeof value === "number" ? String(Number(value.toFixed(6))) : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) => columns.map((name) => quoted(row[name])).join(","));
  return [columns.map((name) => (name === "x" ? xName(rows) : name)).join(","), ...lines].join("\n") + "\n";
}

const xName = (rows) => (rows.some((row) => "p_hat" in row) ? "bin" : rows.some((row) => "ours" in row) ? "x" : "degree");

async function download(chart, kind) {
  const rows = rowsOf(chart);
  const name = `${chart.section.id}-${chart.view}.${kind}`;
  if (kind === "csv") {
    const fixed = Object.fromEntries(visibleControls(chart)
      .filter((entry) => entry.name !== "degree" || chart.view === "diagonal")
      .filter((entry) => chosenValue(chart, entry.name) !== OPEN)
      .map((entry) => [entry.name, entry.texts[chosenValue(chart, entry.name)].replace("−", "-")]));
    save(new Blob([csv(rows.map((row) => ({ ...fixed, ...row })))], { type: "text/csv;charset=utf-8" }), name);
    return;
  }
  const spec = VIEWS[chart.view].spec(chart, rows, { width: 860, height: 430, file: true });
  const holder = document.createElement("div");
  const result = await vegaEmbed(holder, spec, { mode: "vega-lite", actions: false, renderer: "svg", defaultStyle: false });
  if (kind === "svg") {
    save(new Blob([await result.view.toSVG()], { type: "image/svg+xml" }), name);
  } else {
    const canvas = await result.view.toCanvas(2);
    await new Promise((done) => canvas.toBlob((blob) => { save(blob, name); done(); }, "image/png"));
  }
  result.finalize();
}

// ---------------------------------------------------------------- tables

function sortable(table) {
  const rows = [...table.tHead.rows];
  const heads = rows.length > 1
    ? [...[...rows[0].cells].filter((cell) => cell.rowSpan > 1), ...rows.at(-1).cells] : [...rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortBy(table, heads, column));
  });
}

function sortBy(table, heads, column) {
  const direction = heads[column].getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[column].setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const key = (row) => row.cells[column]?.dataset.sort ?? row.cells[column]?.textContent ?? "";
  const body = table.tBodies[0];
  const numeric = [...body.rows].every((row) => key(row) === "" || !Number.isNaN(Number(key(row))));
  const ordered = [...body.rows].sort((a, b) => {
    const [one, other] = [key(a), key(b)];
    // Missing values stay at the end in both directions.
    if (one === "" || other === "") return (one === "") - (other === "");
    return sign * (numeric ? Number(one) - Number(other) : one.localeCompare(other));
  });
  body.append(...ordered);
}

// ---------------------------------------------------------------- start

for (const box of document.querySelectorAll("[data-method]")) {
  const index = Number(box.dataset.method);
  if (box.checked) chosen.add(index);
  box.addEventListener("change", () => {
    if (box.checked) chosen.add(index); else chosen.delete(index);
    redraw();
  });
}
const search = document.getElementById("method-search");
function showCount() {
  const count = document.getElementById("method-count");
  if (count) count.textContent = `${chosen.size} of ${NAMES.length} shown`;
}
search?.addEventListener("input", () => {
  const wanted = search.value.trim().toLowerCase();
  for (const chip of document.querySelectorAll(".chip")) {
    chip.hidden = !chip.textContent.toLowerCase().includes(wanted);
  }
});
search?.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  const found = [...document.querySelectorAll(".chip:not([hidden]) input")];
  if (found.length === 1) found[0].click();
});

for (const button of document.querySelectorAll("[data-choose]")) {
  button.addEventListener("click", () => {
    for (const box of document.querySelectorAll("[data-method]")) {
      // During a search, "all" and "none" apply to the methods found.
      if (button.dataset.choose === "default") box.checked = box.defaultChecked;
      else if (!box.closest(".chip").hidden) box.checked = button.dataset.choose === "all";
      if (box.checked) chosen.add(Number(box.dataset.method)); else chosen.delete(Number(box.dataset.method));
    }
    redraw();
  });
}

for (const element of document.querySelectorAll("[data-chart]")) {
  const section = data.sections.find((entry) => entry.id === element.dataset.chart);
  const chart = {
    element, section, selection: {}, dirty: true, seen: false, turn: 0, result: null, width: 0,
    view: element.querySelector("[data-view]:checked").value,
    plot: element.querySelector(".plot"), note: element.querySelector(".gap-note"),
    empty: element.querySelector(".empty"), caption: element.querySelector("figcaption"),
  };
  charts.push(chart);
  for (const radio of element.querySelectorAll("[data-view]")) {
    radio.addEventListener("change", () => {
      chart.view = radio.value;
      showControls(chart);
      redraw([chart]);
    });
  }
  for (const select of element.querySelectorAll("select")) {
    select.addEventListener("change", () => {
      chart.selection[select.name] = Number(select.value);
      redraw([chart]);
    });
  }
  for (const button of element.querySelectorAll("[data-zoom]")) {
    const factor = { in: 0.7, out: 1 / 0.7, reset: null }[button.dataset.zoom];
    button.addEventListener("click", () => zoomBy(chart, factor));
  }
  for (const button of element.querySelectorAll("[data-download]")) {
    button.addEventListener("click", () => download(chart, button.dataset.download));
  }
  showControls(chart);
  sight.observe(chart.plot);
}

for (const table of document.querySelectorAll("main table")) sortable(table);

let resizing = 0;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => redraw(charts.filter((chart) => chart.plot.clientWidth !== chart.width)), 150);
});
showCount();
whenIdle(drawRest);
document.documentElement.classList.add("ready");
})();
