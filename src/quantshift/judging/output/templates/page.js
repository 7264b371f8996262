(() => {
"use strict";

const data = JSON.parse(document.getElementById("report-data").textContent);
const chosen = { label: data.headline };
const place = () => data.classes.indexOf(chosen.label);

function rows() {
  const chosen_rows = data.rows.filter((row) => !data.several || row.label === chosen.label);
  return chosen_rows.map((row) => ({ ...row, name: asKey(row.name) }));
}

const asRange = () => ({ type: "rule", color: token("accent"), strokeWidth: 3, strokeDash: [5, 4], opacity: 0.8 });
const of = (values, mark, encoding) => (values.length ? [{ data: { values }, mark, encoding }] : []);

function assumptionsSpec() {
  const rows = data.alternatives;
  const whole = data.rows.find((row) => row.label === data.headline);
  const title = `true share of ${data.names[data.headline] ?? data.headline}`;
  const x = { field: "low", type: "quantitative", ...shareAxis(title, rows.map((row) => row.high).concat(whole.high)) };
  const y = { field: "name", type: "nominal", sort: rows.map((row) => row.name), title: null, axis: { grid: false } };
  const tooltip = [{ field: "assumption", type: "nominal" }, { field: "low", format: ".1%" }, { field: "high", format: ".1%" }];
  return {
    described: `Chart of the ${title} under each assumption. ${rows.map((row) => `${percent(row.low)} to ${percent(row.high)} ${row.assumption}`).join("; ")}.`,
    height: 34 * rows.length,
    layer: [
      ...(data.several ? [] : of([whole], { type: "rect", color: token("accent"), opacity: 0.12 }, { x, x2: { field: "high" } })),
      ...of(rows, asRange(), { x, x2: { field: "high" }, y, tooltip }),
    ],
  };
}

function spec() {
  const shown = rows();
  const y = { field: "name", type: "nominal", sort: shown.map((row) => row.name), title: null, axis: { grid: false } };
  const thresholds = data.thresholds.filter((entry) => data.several && entry.label === chosen.label);
  const title = data.several ? `true share of ${data.names[chosen.label] ?? chosen.label}` : "true share of the items";
  const values = shown.flatMap((row) => [row.high, row.share, row.naive]).concat(thresholds.map((entry) => entry.bound));
  const x = { type: "quantitative", ...shareAxis(title, values) };
  const told = shown.length <= 12 ? shown.map((row) => `${row.name}: ${percent(row.share)}`).join("; ") : "All are in the table below";
  const format = shareFormat(shown.map((row) => row.share));
  const tooltip = [
    { field: "name", type: "nominal" }, { field: "share", format }, { field: "low", format },
    { field: "high", format }, { field: "naive", format, title: "by the verdicts alone" },
  ];
  return {
    described: `Chart of the ${title}. ${told}.`,
    data: { values: shown },
    height: 34 * shown.length,
    layer: [
      ...thresholds.flatMap((entry) => [
        { data: { values: [entry] }, mark: { type: "rule", color: token("bad"), strokeDash: [8, 3], strokeWidth: 1.5 }, encoding: { x: { ...x, field: "bound" } } },
        { data: { values: [entry] }, mark: { type: "text", align: "left", baseline: "top", dx: 5, y: 0, color: token("bad"), fontSize: 12 }, encoding: { x: { ...x, field: "bound" }, text: { value: `threshold: ${entry.text}` } } },
      ]),
      ...of(shown.filter((row) => !row.range), { type: "rule", color: token("accent"), strokeWidth: 8, opacity: 0.35 }, { y, x: { ...x, field: "low" }, x2: { field: "high" }, tooltip }),
      ...of(shown.filter((row) => row.range), asRange(), { y, x: { ...x, field: "low" }, x2: { field: "high" }, tooltip }),
      ...of(shown.filter((row) => row.share !== null && !row.range), { type: "point", filled: true, size: 90, opacity: 1, color: token("accent") }, { y, x: { ...x, field: "share" }, tooltip }),
      ...of(shown.filter((row) => row.share !== null && row.range), { type: "point", filled: false, strokeWidth: 2, size: 90, opacity: 1, color: token("accent") }, { y, x: { ...x, field: "share" }, tooltip }),
      { transform: [{ filter: "datum.naive !== null" }], mark: { type: "point", shape: "cross", filled: true, angle: 45, size: 110, opacity: 1, color: token("bad") }, encoding: { y, x: { ...x, field: "naive" }, tooltip } },
    ],
  };
}

const drawShares = () => draw("plot-shares", spec(), 200);
const drawAll = () => {
  drawShares();
  if (data.alternatives.length) draw("plot-assumptions", assumptionsSpec(), 120);
};

document.querySelector("[data-label]")?.addEventListener("change", (event) => {
  chosen.label = data.classes[Number(event.target.value)];
  tell(data.found[place()]);
  if (data.several) showOnly("of", place());
  mark("class", place());
  drawShares();
});

follow(drawAll);
})();
