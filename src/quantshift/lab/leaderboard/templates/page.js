(() => {
const data = JSON.parse(document.getElementById("report-data").textContent);
const METHODS = data.methods;
const COLUMNS = data.columns;
const FAILING = 0.1;
const HOPELESS = 0.5;
const FADED = 4;
const MOST_NAMES = 12;
const FEW_COLUMNS = 4;
const TIE = 1e-10;
const EXACT = 50;
const FEWEST_BLOCKS = 6;
const MATRIX = 12;
const PINNED = 3;
const DEFAULTS = { suite: "", part: "", dataset: "", classes: "", family: "", measure: data.measures[0].name, by: "part", search: "" };
/** What the address keeps besides the choices of the form. */
const ORDER = { sort: "rank", down: "", reference: "" };
const state = { ...DEFAULTS, ...ORDER };
const form = document.getElementById("filters");
const byId = (id) => document.getElementById(id);
const measureOf = (name) => data.measures.find((measure) => measure.name === name);
const sum = (values) => values.reduce((a, b) => a + b, 0);
const mean = (values) => sum(values) / values.length;
const finite = (value) => value !== null && value !== undefined;

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

// ---------------------------------------------------------------- numbers

const number = (value) => (value >= 1 ? value.toFixed(2) : value.toFixed(4));
const milliseconds = (value) => (value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toPrecision(2));

/** The error of a method in a column, or null. */
function errorOf(method, column, measure = state.measure) {
  const whole = data.errors[measure][method][column];
  return finite(whole) ? whole * data.unit : null;
}

/** The mean over columns; null if the method lacks one of them. */
function meanError(method, columns, measure = state.measure) {
  const values = columns.map((column) => errorOf(method, column, measure));
  return values.every(finite) && values.length ? mean(values) : null;
}

/** Standard error over training sets of the mean over columns; null if one of them has none. */
function spreadOf(method, columns) {
  const values = columns.map((column) => data.spread[state.measure][method][column]);
  return values.every(finite) && values.length ? (Math.hypot(...values) * data.unit) / values.length : null;
}

/** In how many of the columns with a test the method is the best, or not significantly worse. */
function levelIn(method, columns) {
  const tested = columns.map((column) => data.level[state.measure][method][column]).filter(finite);
  return { tested: tested.length, level: sum(tested) };
}

const hasNumbers = (column) => METHODS.some((_, method) => finite(data.errors[state.measure][method][column]));

function columnsInSight() {
  return COLUMNS.map((_, index) => index).filter((index) => {
    const column = COLUMNS[index];
    const classes = { two: column.classes === 2, more: column.classes > 2, ordered: column.ordered }[state.classes] ?? true;
    return classes && hasNumbers(index)
      && ["suite", "part", "dataset"].every((name) => !state[name] || column[name] === state[name]);
  });
}

const methodsInRace = () => METHODS.map((_, index) => index)
  .filter((index) => !state.family || METHODS[index].family === state.family);

/** The columns of the table: each stands for one or more kinds of shift on a data set. */
function groupsOf(columns) {
  const groups = new Map();
  for (const column of columns) {
    const { part, title, dataset } = COLUMNS[column];
    const key = state.by === "part" ? part : state.by === "dataset" ? dataset : `${part}\n${dataset}`;
    if (!groups.has(key)) groups.set(key, { key, title: state.by === "dataset" ? dataset : title, dataset, columns: [] });
    groups.get(key).columns.push(column);
  }
  return [...groups.values()];
}

/** Whether even the best method is far off, and takes away little of what doing nothing costs. */
function allFail(columns) {
  if (!data.errors.nae) return false;
  const baseline = METHODS.findIndex((method) => method.name === data.baseline);
  const errors = METHODS.map((_, method) => (method === baseline ? null : meanError(method, columns, "nae"))).filter(finite);
  if (!errors.length) return false;
  const best = Math.min(...errors);
  const idle = baseline < 0 ? null : meanError(baseline, columns, "nae");
  return best > FAILING && (idle === null || best > HOPELESS * idle);
}

/** Ranks with equal ones sharing their mean. */
function ranksOf(values) {
  const order = values.map((_, index) => index).sort((a, b) => values[a] - values[b]);
  const ranks = new Array(values.length);
  for (let first = 0; first < order.length;) {
    let last = first;
    while (last + 1 < order.length && Math.abs(values[order[last + 1]] - values[order[first]]) < 1e-10) last += 1;
    for (let i = first; i <= last; i += 1) ranks[order[i]] = (first + last) / 2 + 1;
    first = last + 1;
  }
  return ranks;
}

/** Mean ranks of the methods that have every number, in blocks that are data sets if there are two.
 *  Data sets with few samples are not ranked. */
function rankTable(methods, inSight) {
  const samplesOf = (name) => sum(inSight.filter((column) => COLUMNS[column].dataset === name).map((column) => COLUMNS[column].samples));
  const all = [...new Set(inSight.map((column) => COLUMNS[column].dataset))];
  const few = all.filter((name) => samplesOf(name) < data.fewest).map((name) => ({ name, samples: samplesOf(name) }));
  const datasets = all.filter((name) => samplesOf(name) >= data.fewest);
  const columns = inSight.filter((column) => datasets.includes(COLUMNS[column].dataset));
  const complete = methods.filter((method) => finite(meanError(method, columns)));
  const several = datasets.length > 1;
  const blocks = several
    ? datasets.map((name) => columns.filter((column) => COLUMNS[column].dataset === name))
    : columns.map((column) => [column]);
  const ranks = new Map(complete.map((method) => [method, 0]));
  for (const block of blocks) {
    const own = ranksOf(complete.map((method) => meanError(method, block)));
    complete.forEach((method, i) => ranks.set(method, ranks.get(method) + own[i] / blocks.length));
  }
  const k = complete.length;
  const difference = several && k > 1 ? data.quantiles[k] * Math.sqrt((k * (k + 1)) / (6 * blocks.length)) : null;
  return { ranks, blocks: blocks.length, several, difference, few };
}

// ---------------------------------------------------------------- pairs of methods

const chances = [[1]];

/** The chance of every sum of the positive ranks of n pairs, if signs are fair coins. */
function rankSumChances(n) {
  while (chances.length <= n) {
    const rank = chances.length, before = chances[rank - 1];
    const after = new Array(before.length + rank).fill(0);
    before.forEach((chance, i) => { after[i] += chance / 2; after[i + rank] += chance / 2; });
    chances.push(after);
  }
  return chances[n];
}

/** The chance that a standard normal variable exceeds z >= 0, to about seven digits (Numerical Recipes, erfcc). */
function normalTail(z) {
  const x = z / Math.SQRT2, t = 1 / (1 + x / 2);
  const series = [1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277]
    .reduceRight((rest, factor) => factor + t * rest, 0);
  return (t * Math.exp(-x * x - 1.26551223 + t * series)) / 2;
}

/** Wilcoxon's signed-rank test as in quantshift.lab.analysis: two-sided p-value and rank-biserial effect. */
function signedRanks(differences) {
  const nonzero = differences.filter((value) => Math.abs(value) > TIE);
  const n = nonzero.length, total = (n * (n + 1)) / 2;
  if (!n) return { p: 1, effect: 0 };
  const ranks = ranksOf(nonzero.map(Math.abs));
  const positive = sum(ranks.filter((_, i) => nonzero[i] > 0));
  const effect = (2 * positive) / total - 1;
  const sizes = new Map();
  for (const rank of ranks) sizes.set(rank, (sizes.get(rank) ?? 0) + 1);
  if (sizes.size === n && n <= EXACT) {
    const smaller = Math.min(positive, total - positive);
    return { p: Math.min(1, 2 * sum(rankSumChances(n).slice(0, smaller + 1))), effect };
  }
  const variance = (n * (n + 1) * (2 * n + 1)) / 24 - sum([...sizes.values()].map((t) => t ** 3 - t)) / 48;
  return { p: 2 * normalTail(Math.abs(positive - total / 2) / Math.sqrt(variance)), effect };
}

/** p-values adjusted for their number (Holm). */
function holm(values) {
  const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b]);
  const adjusted = new Array(values.length);
  let least = 0;
  order.forEach((i, step) => {
    least = Math.max(least, values[i] * (values.length - step));
    adjusted[i] = Math.min(1, least);
  });
  return adjusted;
}

/** Two methods on the data sets in sight, over the columns that both have; a win is one of the first. */
function pairOf(first, second, columns) {
  const byDataset = new Map();
  for (const column of columns) {
    const [one, other] = [errorOf(first, column), errorOf(second, column)];
    if (!finite(one) || !finite(other)) continue;
    const { dataset } = COLUMNS[column];
    if (!byDataset.has(dataset)) byDataset.set(dataset, []);
    byDataset.get(dataset).push(one - other);
  }
  const differences = [...byDataset.values()].map(mean);
  if (!differences.length) return null;
  const { p, effect } = signedRanks(differences);
  return {
    blocks: differences.length, difference: mean(differences), p, effect: -effect + 0,
    wins: differences.filter((value) => value < -TIE).length,
    losses: differences.filter((value) => value > TIE).length,
    ties: differences.filter((value) => Math.abs(value) <= TIE).length,
  };
}

function timeOf(method, columns, kind) {
  const values = columns.map((column) => data.times[kind][method][column]).filter(finite);
  return values.length ? median(values) : null;
}

function rowsOf(columns, groups) {
  const methods = methodsInRace();
  const table = rankTable(methods, columns);
  const rows = methods.map((method) => {
    const values = columns.map((column) => errorOf(method, column));
    const there = values.filter(finite);
    const worst = there.length === values.length && values.length ? Math.max(...values) : null;
    return {
      method, name: METHODS[method].name, family: METHODS[method].family,
      mean: meanError(method, columns), worst, worstAt: worst === null ? null : columns[values.indexOf(worst)],
      rank: table.ranks.get(method) ?? null, there: there.length, of: values.length,
      ...levelIn(method, columns), time: timeOf(method, columns, "sample"), fit: timeOf(method, columns, "fit"),
      cells: groups.map((group) => meanError(method, group.columns)),
      added: METHODS[method].family === "added",
    };
  });
  for (const row of rows) row.level = row.tested ? row.level / row.tested : null;
  return { rows: rows.filter((row) => row.there), table };
}

// ---------------------------------------------------------------- the table

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (finite(value) && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const SUMMARY = [
  { key: "name", text: "method" },
  { key: "family", text: "family" },
  { key: "rank", text: "mean rank" },
  { key: "mean", text: "mean" },
  { key: "worst", text: "worst" },
  { key: "level", text: "best or level", down: true, title: "In how many columns the method is the best or not significantly worse (paired t-tests over training sets, Holm's correction)" },
  { key: "fit", text: "ms to fit", title: "Processor time to fit the method, without the shared classifier" },
  { key: "time", text: "ms per sample", title: "Processor time to estimate one sample" },
];

function sortedRows(rows) {
  const sign = state.down ? -1 : 1;
  const place = state.sort.startsWith("c") && /^c\d+$/.test(state.sort) ? Number(state.sort.slice(1)) : null;
  // Without any rank, by the mean.
  const name = state.sort === "rank" && !rows.some((row) => finite(row.rank)) ? "mean" : state.sort;
  const key = (row) => (place === null ? row[name] : row.cells[place]);
  return [...rows].sort((a, b) => {
    // Added methods stay at the top, whatever the order.
    if (a.added !== b.added) return b.added - a.added;
    const [one, other] = [key(a), key(b)];
    // What is missing stays at the end, whichever way.
    if (!finite(one) || !finite(other)) return (finite(other) - finite(one)) || a.name.localeCompare(b.name);
    return sign * (typeof one === "string" ? one.localeCompare(other) : one - other) || a.name.localeCompare(b.name);
  });
}

function head(text, key, { down = false, ...attributes } = {}) {
  const button = element("button", { type: "button", class: "sort" }, text);
  button.addEventListener("click", () => {
    state.down = (state.sort === key ? !state.down : down) ? "1" : "";
    state.sort = key;
    show();
    byId("board-table").querySelector(`[data-key="${key}"] button`)?.focus();
  });
  const sorted = state.sort === key ? (state.down ? "descending" : "ascending") : null;
  return element("th", { scope: "col", "aria-sort": sorted, "data-key": key, ...attributes }, button);
}

/** The columns before those of errors; without any test there is none to say how often a method is level. */
const summaryColumns = (rows) => SUMMARY.filter(({ key }) => key !== "level" || rows.some((row) => row.tested));

function headRows(groups, summaries) {
  const both = state.by === "both";
  const span = both ? { rowspan: 2 } : {};
  const first = element("tr", {});
  for (const { key, text, down, title } of summaries) {
    const left = key === "name" || key === "family";
    first.append(head(text, key, { ...span, down, title, class: `${left ? "text" : ""}${key === "family" ? " family-column" : ""}` || null }));
  }
  const failing = (group) => (allFail(group.columns)
    ? { class: "failing", title: "No method does well here: the least error is not marked" } : {});
  if (!both) {
    groups.forEach((group, i) => first.append(head(group.title, `c${i}`, failing(group))));
    return [first];
  }
  const second = element("tr", {});
  for (let i = 0; i < groups.length;) {
    let n = 1;
    while (groups[i + n]?.title === groups[i].title) n += 1;
    first.append(element("th", { scope: "colgroup", colspan: n }, groups[i].title));
    for (let j = i; j < i + n; j += 1) second.append(head(groups[j].dataset, `c${j}`, failing(groups[j])));
    i += n;
  }
  return [first, second];
}

function reason(method, columns) {
  const told = columns.map((column) => data.absences.which[method][column]).filter((which) => which > 0);
  const why = [...new Set(told)].map((which) => data.absences.reasons[which - 1]);
  const lacking = columns.filter((column) => !finite(errorOf(method, column)));
  const share = columns.length > 1 ? `no number in ${lacking.length} of ${columns.length} columns` : "no number";
  return why.length ? `${share}: ${why.join("; ")}` : `${share}: it was not run, or estimates are missing`;
}

function absent(why) {
  return element("span", { class: "absent", title: why, tabindex: "0", "aria-label": why }, "–");
}

const theirsOf = (columns, method) => (columns.length > 1 ? undefined : data.published.find((row) =>
  row.column === columns[0] && row.measure === state.measure && row.same_as === method));

function publishedNumber(row) {
  return element("span", { class: "published-number", title: `published: ${row.method}. ${row.source}. ${row.differs}` }, `${number(row.value)} published`);
}

function bestOf(groups, rows) {
  return groups.map((group, i) => {
    if (allFail(group.columns)) return null;
    const racing = rows.filter((row) => row.name !== data.baseline).map((row) => row.cells[i]).filter(finite);
    return racing.length ? Math.min(...racing) : null;
  });
}

/** The mark of a method as in the charts: with more methods than colours, shapes tell them apart. */
function keyOf(method) {
  const place = "http://www.w3.org/2000/svg";
  const mark = document.createElementNS(place, "svg"), path = document.createElementNS(place, "path");
  mark.setAttribute("viewBox", "-1.2 -1.2 2.4 2.4");
  mark.setAttribute("class", "mark");
  mark.setAttribute("aria-hidden", "true");
  path.setAttribute("d", METHODS[method].shape);
  path.style.fill = `var(--m${method})`;
  mark.append(path);
  return mark;
}

function bodyRow(row, groups, best, summaries) {
  const look = METHODS[row.method];
  const line = element("tr", { class: row.added ? "added" : null });
  line.append(element("th", { scope: "row", class: "text", title: look.name }, keyOf(row.method), element("span", { class: "name" }, row.name)));
  line.append(element("td", { class: "text family family-column" }, row.family));
  const lacking = reason(row.method, columnsNow);
  const summary = (value, text, title) => element("td", { class: "summary", title }, value === null ? absent(lacking) : text);
  line.append(summary(row.rank, row.rank?.toFixed(1)));
  line.append(summary(row.mean, row.mean === null ? "" : number(row.mean)));
  line.append(summary(row.worst, row.worst === null ? "" : number(row.worst),
    row.worst === null ? null : `${COLUMNS[row.worstAt].title}, ${COLUMNS[row.worstAt].dataset}`));
  if (summaries.some(({ key }) => key === "level")) line.append(element("td", { class: "summary" }, row.tested ? `${Math.round(row.level * row.tested)} of ${row.tested}` : ""));
  for (const time of [row.fit, row.time]) line.append(element("td", { class: "summary" }, time === null ? "" : milliseconds(time)));
  row.cells.forEach((value, i) => {
    const theirs = theirsOf(groups[i].columns, row.method);
    if (value === null) {
      line.append(element("td", {}, absent(reason(row.method, groups[i].columns)), theirs ? publishedNumber(theirs) : null));
      return;
    }
    const spread = spreadOf(row.method, groups[i].columns);
    const error = spread === null ? null : `± ${number(spread)}`;
    const { tested, level } = levelIn(row.method, groups[i].columns);
    const said = [error && `${error}, the standard error over training sets`,
      tested && `the best or not significantly worse in ${level} of ${tested} ${tested === 1 ? "column" : "columns"}`].filter(Boolean).join("; ");
    const near = groups[i].columns.length === 1 && level === 1 && value !== best[i] && best[i] !== null;
    const button = element("button", { type: "button", class: "number", title: said || null },
      near ? element("span", { class: "near" }, "≈") : null, number(value), error && groups.length <= FEW_COLUMNS ? element("span", { class: "spread" }, ` ${error}`) : null);
    button.addEventListener("click", () => openSamples(row.method, groups[i].columns));
    const cell = element("td", { class: best[i] === null ? null : `heat-cell${value === best[i] ? " best" : ""}` }, button, theirs ? publishedNumber(theirs) : null);
    if (best[i] !== null) {
      const shade = value <= best[i] ? 1 : best[i] <= 0 ? 0 : Math.max(0, 1 - Math.log(value / best[i]) / Math.log(FADED));
      cell.style.setProperty("--t", shade.toFixed(3));
    }
    line.append(cell);
  });
  return line;
}

/** Rows of published methods that nobody has run here. */
function theirRows(groups, summaries) {
  const shown = data.published.filter((row) => row.same_as === null && row.measure === state.measure
    && groups.some((group) => group.columns.length === 1 && group.columns[0] === row.column));
  return [...new Set(shown.map((row) => row.method))].map((name) => {
    const line = element("tr", { class: "theirs" }, element("th", { scope: "row", class: "text" }, name));
    line.append(element("td", { class: "text family family-column" }, "published"));
    for (let i = 2; i < summaries.length; i += 1) line.append(element("td", { class: "summary" }));
    for (const group of groups) {
      const own = shown.find((row) => row.method === name && group.columns.length === 1 && row.column === group.columns[0]);
      line.append(element("td", {}, own ? publishedNumber(own) : null));
    }
    return line;
  });
}

// ---------------------------------------------------------------- charts

const turns = {};

async function draw(id, spec) {
  const place = byId(id);
  turns[id] = (turns[id] ?? 0) + 1;
  const turn = turns[id];
  if (!spec) {
    place.replaceChildren();
    place.dataset.drawn = String(turn);
    return;
  }
  const holder = document.createElement("div");
  const whole = { autosize: { type: "fit", contains: "padding" }, ...spec };
  const result = await vegaEmbed(holder, whole, { mode: "vega-lite", actions: false, renderer: "svg", config: config(180), tooltip: false, defaultStyle: false });
  if (turn !== turns[id]) {
    result.finalize();
    return;
  }
  place.replaceChildren(holder);
  place.dataset.drawn = String(turn);
}

const room = (id) => Math.max(240, byId(id).parentElement.clientWidth - 2);
const shapes = (rows) => ({ field: "name", type: "nominal", legend: null, scale: { domain: rows.map((row) => row.name), range: rows.map((row) => METHODS[row.method].shape) } });
const colours = (rows) => ({ field: "name", type: "nominal", legend: null, scale: { domain: rows.map((row) => row.name), range: rows.map((row) => token(`m${row.method}`)) } });

function drawRanks(rows, table) {
  const ranked = rows.filter((row) => row.rank !== null).sort((a, b) => a.rank - b.rank);
  const said = byId("ranks-said");
  const tooFew = table.few.length ? ` Not ranked, with fewer than ${data.fewest} samples: ${table.few.map(({ name, samples }) => `${name} (${samples})`).join(", ")}.` : "";
  if (ranked.length < 2) {
    said.textContent = `Ranks need two methods that have every number in sight.${tooFew}`;
    draw("plot-ranks", null);
    return;
  }
  const left = rows.length - ranked.length;
  const without = left ? ` ${left} ${left === 1 ? "method lacks" : "methods lack"} some of the numbers in sight and ${left === 1 ? "is" : "are"} not ranked.` : "";
  const notes = `${without}${tooFew}`;
  const useless = table.difference !== null && table.difference > ranked.length - 1;
  const bars = table.difference !== null && !useless;
  said.textContent = useless
    ? `Mean rank of ${ranked.length} methods over ${table.blocks} data sets, 1 is best. So few data sets do not tell so many methods apart: the critical difference, ${table.difference.toFixed(1)} ranks, is more than there are.${notes}`
    : table.difference === null
    ? `Mean rank of ${ranked.length} methods over ${table.blocks} ${table.blocks === 1 ? "kind" : "kinds"} of shift on one data set, 1 is best. They share their items, so that no critical difference can be told.${notes}`
    : `Mean rank of ${ranked.length} methods over ${table.blocks} data sets, 1 is best. Two methods differ significantly (Nemenyi's test, ${100 * data.alpha}%) if their bars do not overlap: the critical difference is ${table.difference.toFixed(1)} ranks.${notes}`;
  const half = (table.difference ?? 0) / 2;
  const values = ranked.map((row) => ({ name: row.name, method: row.method, rank: row.rank, low: row.rank - half, high: row.rank + half }));
  const y = { field: "name", type: "nominal", sort: values.map((row) => row.name), title: null, axis: { grid: false, labelPadding: 6 } };
  const x = { type: "quantitative", title: "mean rank", scale: { zero: false, nice: false, padding: 8 }, axis: { tickCount: 8 } };
  draw("plot-ranks", {
    data: { values }, width: room("plot-ranks"), height: 17 * values.length + 45,
    layer: [
      ...(bars ? [{ mark: { type: "rule", strokeWidth: 5, opacity: 0.3 }, encoding: { y, x: { ...x, field: "low" }, x2: { field: "high" }, color: colours(values) } }] : []),
      { mark: { type: "point", filled: true, size: 60, opacity: 1 }, encoding: { y, x: { ...x, field: "rank" }, color: colours(values), shape: shapes(values) } },
    ],
  });
}

// ---------------------------------------------------------------- comparisons of pairs

const probability = (p) => (p < 0.001 ? p.toExponential(1).replace("-", "−") : p.toFixed(3));
const tally = (pair) => `${pair.wins}–${pair.ties}–${pair.losses}`;
const signed = (value) => `${value < 0 ? "−" : "+"}${number(Math.abs(value))}`;

/** The method that the others are compared with: the chosen one, or the added one that ranks best. */
function referenceOf(ranked) {
  const chosen = ranked.find((row) => row.name === state.reference);
  return chosen ?? ranked.find((row) => row.added) ?? ranked[0];
}

function showPairs(rows, columns) {
  const ranked = [...rows].sort((a, b) => (a.rank ?? Infinity) - (b.rank ?? Infinity) || a.name.localeCompare(b.name));
  const datasets = new Set(columns.map((column) => COLUMNS[column].dataset)).size;
  const reference = referenceOf(ranked);
  const select = byId("reference");
  select.replaceChildren(...ranked.map((row) => element("option", { value: row.name }, row.name)));
  if (reference) select.value = reference.name;
  const few = datasets < FEWEST_BLOCKS
    ? ` With fewer than ${FEWEST_BLOCKS} data sets no difference can be significant at the ${100 * data.alpha}% level; only wins are counted.` : "";
  byId("pairs-said").textContent = ranked.length < 2 ? "Comparisons need two methods."
    : `Each pair on the ${datasets === 1 ? "data set" : `${datasets} data sets`} in sight, by mean errors over the kinds of shift that both have (Wilcoxon's signed-rank test).${few}`;
  showReference(reference, ranked, columns, datasets);
  showMatrix(reference, ranked, columns, datasets);
}

function showReference(reference, ranked, columns, datasets) {
  const pairs = ranked.filter((row) => row !== reference)
    .map((row) => ({ row, pair: pairOf(reference.method, row.method, columns) })).filter(({ pair }) => pair);
  const adjusted = holm(pairs.map(({ pair }) => pair.p));
  const tests = datasets >= FEWEST_BLOCKS;
  byId("reference-table").tBodies[0].replaceChildren(...pairs.map(({ row, pair }, i) => {
    const clear = tests && adjusted[i] < data.alpha;
    const verdict = !tests ? "not tested" : !clear ? "no clear difference" : pair.effect > 0 ? `${reference.name} is better` : `${row.name} is better`;
    return element("tr", { class: clear ? "clear" : null },
      element("th", { scope: "row", class: "text" }, keyOf(row.method), row.name), element("td", {}, tally(pair)),
      element("td", {}, signed(pair.difference)), element("td", {}, `${pair.effect < 0 ? "−" : "+"}${Math.abs(pair.effect).toFixed(2)}`),
      element("td", {}, probability(pair.p)), element("td", {}, probability(adjusted[i])), element("td", { class: "text" }, verdict));
  }));
}

function showMatrix(reference, ranked, columns, datasets) {
  const chosen = ranked.filter((row, i) => i < MATRIX || row.added || row === reference);
  const pairs = chosen.flatMap((one, i) => chosen.slice(i + 1).map((other) => ({ one, other, pair: pairOf(one.method, other.method, columns) })))
    .filter(({ pair }) => pair);
  const adjusted = holm(pairs.map(({ pair }) => pair.p));
  const cells = new Map();
  pairs.forEach(({ one, other, pair }, i) => {
    const clear = datasets >= FEWEST_BLOCKS && adjusted[i] < data.alpha;
    const told = `p = ${probability(adjusted[i])} (Holm)`;
    const turned = { ...pair, wins: pair.losses, losses: pair.wins };
    cells.set(`${one.method} ${other.method}`, [pair, clear && pair.effect > 0, clear && pair.effect < 0, told]);
    cells.set(`${other.method} ${one.method}`, [turned, clear && pair.effect < 0, clear && pair.effect > 0, told]);
  });
  const table = byId("matrix-table");
  table.tHead.replaceChildren(element("tr", {}, element("th", { scope: "col", class: "text" }, "wins–ties–losses of"),
    ...chosen.map((row) => element("th", { scope: "col" }, row.name))));
  table.tBodies[0].replaceChildren(...chosen.map((one) => element("tr", { class: one.added ? "added" : null },
    element("th", { scope: "row", class: "text" }, keyOf(one.method), element("span", { class: "name" }, one.name)),
    ...chosen.map((other) => {
      const found = cells.get(`${one.method} ${other.method}`);
      if (!found) return element("td", { class: "same" }, one === other ? "" : "–");
      const [pair, better, worse, told] = found;
      return element("td", { class: better ? "better" : worse ? "worse" : null, title: `${one.name} against ${other.name}: ${told}` }, tally(pair));
    }))));
  const left = ranked.length - chosen.length;
  byId("matrix-said").textContent = `Wins, ties and losses of the row against the column. Green: significantly better, red: worse (Holm's correction for the ${pairs.length} pairs shown).${left > 0 ? ` The ${chosen.length} methods with the best ranks, the added ones and the one chosen above; ${left} more are in leaderboard-pairs.csv.` : ""}`;
}

/** Methods that no other beats in both error and time, the fastest first. */
function frontier(rows) {
  let least = Infinity;
  return [...rows].sort((a, b) => a.time - b.time || a.mean - b.mean).filter((row) => {
    if (row.mean >= least) return false;
    least = row.mean;
    return true;
  });
}

function drawTimes(rows) {
  const timed = rows.filter((row) => row.mean !== null && row.time !== null && row.time > 0 && row.name !== data.baseline);
  const said = byId("time-said");
  if (!timed.length) {
    said.textContent = "No times are known of methods that have every number in sight.";
    draw("plot-time", null);
    return;
  }
  const front = frontier(timed);
  // More names would hide each other.
  const named = front.filter((_, i) => front.length <= MOST_NAMES || i % Math.ceil(front.length / MOST_NAMES) === 0);
  said.textContent = `Mean ${measureOf(state.measure).title} against the processor time to estimate one sample, given posteriors or features; the classifier is not counted, unless a method learns its own. On the dotted line are the methods that no other beats in both: ${front.map((row) => row.name).join(", ")}.`;
  const values = timed.map((row) => ({ name: row.name, method: row.method, time: row.time, mean: row.mean, named: named.includes(row) }));
  const x = { field: "time", type: "quantitative", title: "milliseconds per sample (logarithmic)", scale: { type: "log", nice: false, padding: 24 }, axis: { grid: false, tickCount: 5, format: "~g" } };
  const y = { field: "mean", type: "quantitative", title: `mean ${measureOf(state.measure).title}`, scale: { zero: false, padding: 12 } };
  const steps = { values: front.map((row) => ({ time: row.time, mean: row.mean })) };
  draw("plot-time", {
    data: { values }, width: room("plot-time"), height: 420,
    layer: [
      { data: steps, mark: { type: "line", interpolate: "step-after", color: token("strong-rule"), strokeDash: [3, 3] }, encoding: { x, y } },
      { mark: { type: "point", filled: true, size: 70, opacity: 0.9 }, encoding: { x, y, color: colours(values), shape: shapes(values) } },
      { transform: [{ filter: "datum.named" }], mark: { type: "text", dy: -10, align: "center", fontSize: 12, color: token("ink") }, encoding: { x, y, text: { field: "name" } } },
    ],
  });
}

// ---------------------------------------------------------------- the samples behind a number

function unpacked(text) {
  const { alphabet, steps, lacking } = data.points;
  const values = [];
  for (let i = 0; i < text.length; i += 2) {
    const code = 64 * alphabet.indexOf(text[i]) + alphabet.indexOf(text[i + 1]);
    values.push(code === lacking ? null : code / steps);
  }
  return values;
}

function pointsOf(method, column) {
  const points = data.points.columns[column];
  const packed = points?.estimated[method];
  if (!packed) return [];
  const { names } = COLUMNS[column];
  const truth = unpacked(points.true);
  return unpacked(packed)
    .map((estimated, i) => ({ truth: truth[i], estimated, label: names[points.classes.length ? points.classes[i] : 1], off: Math.abs(estimated - truth[i]) }))
    .filter((point) => point.estimated !== null);
}

function openSamples(method, columns) {
  const select = byId("samples-choice").querySelector("select");
  select.replaceChildren(...columns.map((column) => element("option", { value: column },
    `${COLUMNS[column].title}, ${COLUMNS[column].dataset}: ${number(errorOf(method, column))}`)));
  byId("samples-choice").hidden = columns.length === 1;
  select.onchange = () => showSamples(method, Number(select.value));
  byId("samples").showModal();
  showSamples(method, columns[0]);
}

function showSamples(method, column) {
  const { title, dataset, names, classes, samples } = COLUMNS[column];
  const points = pointsOf(method, column);
  byId("samples-title").textContent = `${METHODS[method].name}: ${title}, ${dataset}`;
  const spread = data.spread[state.measure][method][column];
  const high = data.high[state.measure][method][column];
  const fit = data.times.fit[method][column], each = data.times.sample[method][column];
  const theirs = data.published.filter((row) => row.column === column && row.same_as === method && row.measure === state.measure);
  const facts = [
    [`mean ${measureOf(state.measure).title}`, `${number(errorOf(method, column))}${finite(spread) ? ` ± ${number(spread * data.unit)} (standard error over training sets)` : ""}`],
    ["95% of the samples are below", finite(high) ? number(high * data.unit) : "–"],
    ["samples", samples.toLocaleString("en")],
    ...(finite(each) ? [["time", `${milliseconds(each)} ms per sample, ${milliseconds(fit)} ms to fit`]] : []),
    ...theirs.map((row) => ["published", `${number(row.value)} (${row.method}): ${row.source}. ${row.differs}`]),
  ];
  byId("samples-facts").replaceChildren(...facts.map(([term, detail]) =>
    element("div", {}, element("dt", {}, term), element("dd", {}, detail))));
  byId("samples-said").textContent = `${points.length} of ${samples.toLocaleString("en")} samples${classes > 2 ? ", one class of each in turn" : `, prevalence of ${names[1]}`}; on the line an estimate is right.`;
  const worst = [...points].sort((a, b) => b.off - a.off).slice(0, 10);
  byId("samples-table").tBodies[0].replaceChildren(...worst.map((point) => element("tr", {},
    element("th", { scope: "row", class: "text" }, point.label), element("td", {}, point.truth.toFixed(3)),
    element("td", {}, point.estimated.toFixed(3)), element("td", {}, (point.estimated - point.truth).toFixed(3).replace("-", "−")))));
  const axis = (field, text) => ({ field, type: "quantitative", title: text, scale: { domain: [0, 1] }, axis: { tickCount: 5 } });
  const width = Math.max(220, byId("samples").clientWidth - 50);
  draw("plot-samples", {
    data: { values: points }, width: Math.min(width, 520), height: Math.min(width, 420),
    layer: [
      { data: { values: [{ truth: 0, estimated: 0 }, { truth: 1, estimated: 1 }] }, mark: { type: "line", color: token("muted"), strokeDash: [3, 4], strokeWidth: 1 }, encoding: { x: axis("truth", "true prevalence"), y: axis("estimated", "estimated prevalence") } },
      { mark: { type: "point", filled: true, size: 28, opacity: 0.55, color: token("accent") }, encoding: { x: axis("truth", "true prevalence"), y: axis("estimated", "estimated prevalence") } },
    ],
  });
}

// ---------------------------------------------------------------- what is left out

function showAbsences() {
  const lists = data.absences.reasons.map((why, which) => {
    const where = new Map();
    METHODS.forEach((method, m) => data.absences.which[m].forEach((number, c) => {
      if (number !== which + 1) return;
      if (!where.has(method.name)) where.set(method.name, new Set());
      where.get(method.name).add(COLUMNS[c].dataset);
    }));
    const said = [...where].map(([name, datasets]) => `${name} (${[...datasets].join(", ")})`);
    return said.length ? element("li", {}, element("strong", {}, `${why}: `), `${said.join(", ")}.`) : null;
  }).filter(Boolean);
  byId("absences").replaceChildren(...(lists.length ? lists : [element("li", {}, "Nothing: every method has every number.")]));
}

// ---------------------------------------------------------------- together

let columnsNow = [];

function show() {
  const columns = columnsInSight();
  columnsNow = columns;
  const groups = groupsOf(columns);
  if (/^c\d+$/.test(state.sort) && Number(state.sort.slice(1)) >= groups.length) state.sort = "rank";
  const { rows, table } = rowsOf(columns, groups);
  const wanted = state.search.trim().toLowerCase();
  const shown = sortedRows(rows).filter((row) => row.name.toLowerCase().includes(wanted));
  const board = byId("board-table");
  const best = bestOf(groups, rows), summaries = summaryColumns(rows);
  board.tHead.replaceChildren(...headRows(groups, summaries));
  board.tBodies[0].replaceChildren(...shown.map((row) => bodyRow(row, groups, best, summaries)), ...(wanted ? [] : theirRows(groups, summaries)));
  pinAdded(board);
  board.style.setProperty("--first-row", `${board.tHead.rows[0].querySelector("[colspan]")?.offsetHeight ?? 0}px`);
  const datasets = new Set(columns.map((column) => COLUMNS[column].dataset)).size;
  const parts = new Set(columns.map((column) => COLUMNS[column].part)).size;
  byId("board-facts").textContent = columns.length
    ? `${shown.length} of ${METHODS.length} methods, ${parts} ${parts === 1 ? "kind" : "kinds"} of shift, ${datasets} ${datasets === 1 ? "data set" : "data sets"}; mean ${measureOf(state.measure).title}`
    : "Nothing here: the measure is for ordered classes, or no experiment meets all of the choices.";
  const failing = groups.some((group) => allFail(group.columns));
  byId("board-legend").textContent = [
    "The darker, the nearer to the least error of the column, which is bold. Mean and worst are over all pairs of shift and data set in sight; methods that lack one of them (–) have neither and come last.",
    data.baseline ? `${data.baseline} always answers the training prevalence: a baseline, and never bold.` : "",
    groups.length <= FEW_COLUMNS ? "± is the standard error over training sets." : "Point at a number for its standard error.",
    failing ? "† No method does well: the least error is not marked." : "",
    METHODS.some((method) => method.family === "added") ? "✦ A method that was added; it stays at the top." : "",
    groups.some((group) => group.columns.length === 1) && rows.some((row) => row.tested) ? "≈ Not significantly worse than the best of its column (paired t-tests over training sets, Holm's correction)." : "",
  ].filter(Boolean).join(" ");
  drawRanks(rows, table);
  showPairs(rows, columns);
  CUT.forEach((tell) => tell());
  drawTimes(rows);
  remember();
  document.documentElement.dataset.shown = String(Number(document.documentElement.dataset.shown ?? 0) + 1);
}

/** Added methods stay in sight while the others scroll, if they are few. */
function pinAdded(board) {
  const rows = [...board.tBodies[0].querySelectorAll("tr.added")];
  if (!rows.length || rows.length > PINNED) return;
  let top = board.tHead.offsetHeight;
  for (const row of rows) {
    row.classList.add("pinned");
    row.style.setProperty("--top", `${top}px`);
    top += row.offsetHeight;
  }
}

/** Under every table that is cut off: how many of its rows are below, and a button that shows them all. */
const CUT = [...document.querySelectorAll(".scroll.long")].map((region, i) => {
  region.id ||= `cut-${i}`;
  const button = element("button", { type: "button", class: "quiet", "aria-controls": region.id });
  const line = element("p", { class: "more" }, button);
  const tell = () => {
    const end = region.getBoundingClientRect().bottom;
    const below = [...region.querySelectorAll("tbody tr")].filter((row) => row.getBoundingClientRect().bottom > end).length;
    const whole = !region.classList.contains("long");
    line.hidden = !whole && region.scrollHeight <= region.clientHeight;
    button.hidden = !below && !whole;
    button.setAttribute("aria-expanded", String(whole));
    button.textContent = whole ? "show fewer" : `${below} more – show all`;
  };
  region.after(line);
  region.addEventListener("scroll", tell, { passive: true });
  region.closest("details")?.addEventListener("toggle", tell);
  button.addEventListener("click", () => {
    region.classList.toggle("long");
    tell();
  });
  return tell;
});

const KEPT = { ...DEFAULTS, ...ORDER };
const sections = new Set([...document.querySelectorAll("main section, main header")].map((part) => part.id));

/** The part of the page that the address names, and the choices in it: #ranks&measure=rae&sort=mean. */
function inAddress() {
  const [first, ...others] = location.hash.slice(1).split("&");
  const section = sections.has(first) ? first : "";
  return { section, choices: new URLSearchParams(section ? others.join("&") : location.hash.slice(1)) };
}

/** The choices and the order stand in the address, so that a view can be sent and embedded. */
function remember(section = inAddress().section) {
  const choices = new URLSearchParams(Object.entries(state).filter(([name, value]) => name in KEPT && value !== KEPT[name])).toString();
  const text = [section, choices].filter(Boolean).join("&");
  try { history.replaceState(null, "", `${location.pathname}${text ? `#${text}` : ""}`); } catch { /* not from a folder, in some browsers */ }
}

function recall() {
  Object.assign(state, KEPT);
  for (const [name, value] of [...new URLSearchParams(location.search), ...inAddress().choices]) {
    if (name in ORDER || (name in DEFAULTS && form.elements[name])) state[name] = value;
  }
  for (const name of Object.keys(DEFAULTS)) {
    const field = form.elements[name];
    if (!field) continue;
    field.value = state[name];
    if (field.value !== state[name]) { state[name] = DEFAULTS[name]; field.value = DEFAULTS[name]; }
  }
  if (!SUMMARY.some(({ key }) => key === state.sort) && !/^c\d+$/.test(state.sort)) state.sort = ORDER.sort;
}

addEventListener("hashchange", () => {
  recall();
  show();
});
for (const link of document.querySelectorAll(".contents a[href^='#']")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const section = link.getAttribute("href").slice(1);
    byId(section).scrollIntoView();
    remember(section);
  });
}
byId("reference").addEventListener("change", (event) => {
  state.reference = event.target.value;
  show();
});

form.addEventListener("input", (event) => {
  if (!(event.target.name in DEFAULTS)) return;
  state[event.target.name] = event.target.value;
  show();
});
form.addEventListener("submit", (event) => event.preventDefault());
byId("reset").addEventListener("click", () => {
  Object.assign(state, KEPT);
  for (const name of Object.keys(DEFAULTS)) if (form.elements[name]) form.elements[name].value = DEFAULTS[name];
  show();
});

byId("save-csv").addEventListener("click", () => {
  const columns = columnsInSight(), groups = groupsOf(columns);
  const { rows } = rowsOf(columns, groups);
  const quoted = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const text = (value) => (finite(value) ? String(typeof value === "number" ? Number(value.toPrecision(6)) : value) : "");
  const heads = ["method", "family", "mean_rank", "mean", "worst", "share_best_or_level", "ms_to_fit", "ms_per_sample", ...groups.map((g) => g.key.replace("\n", " on "))];
  const lines = sortedRows(rows).map((row) => [row.name, row.family, row.rank, row.mean, row.worst, row.level, row.fit, row.time, ...row.cells].map((v) => quoted(text(v))).join(","));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([[heads.map(quoted).join(","), ...lines].join("\n") + "\n"], { type: "text/csv;charset=utf-8" }));
  link.download = `leaderboard-${state.measure}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
});

if (window.self !== window.top) document.documentElement.classList.add("framed");
recall();
showAbsences();
follow(show);
if (inAddress().section) byId(inAddress().section).scrollIntoView();
document.documentElement.classList.add("ready");
})();
