(() => {
"use strict";

const data = JSON.parse(document.getElementById("report-data").textContent);
const chosen = { label: data.headline };

function rows() {
  return data.rows.filter((row) => !data.several || row.label === chosen.label);
}

function spec() {
  const shown = rows();
  const y = { field: "name", type: "nominal", sort: shown.map((row) => row.name), title: null, axis: { grid: false } };
  const x = { type: "quantitative", scale: { domain: [0, 1] }, title: data.several ? `share of ${data.names[chosen.label] ?? chosen.label}` : "share of the items", axis: { format: ".0%", tickCount: 6 } };
  const tooltip = [
    { field: "name", type: "nominal" }, { field: "share", format: ".1%" }, { field: "low", format: ".1%" },
    { field: "high", format: ".1%" }, { field: "naive", format: ".1%", title: "by the verdicts alone" },
  ];
  return {
    data: { values: shown },
    height: 34 * shown.length,
    layer: [
      { mark: { type: "rule", color: token("accent"), strokeWidth: 8, opacity: 0.35 }, encoding: { y, x: { ...x, field: "low" }, x2: { field: "high" }, tooltip } },
      { transform: [{ filter: "datum.share !== null" }], mark: { type: "point", filled: true, size: 90, opacity: 1, color: token("accent") }, encoding: { y, x: { ...x, field: "share" }, tooltip } },
      { transform: [{ filter: "datum.naive !== null" }], mark: { type: "point", shape: "cross", filled: true, angle: 45, size: 110, opacity: 1, color: token("bad") }, encoding: { y, x: { ...x, field: "naive" }, tooltip } },
    ],
  };
}

function draw() {
  const place = document.getElementById("plot-shares");
  const whole = { width: place.parentElement.clientWidth - 2, autosize: { type: "fit-x", contains: "padding" }, ...spec() };
  vegaEmbed(place, whole, { actions: false, renderer: "svg", config: config(200), tooltip: { theme: "custom" } });
}

document.querySelector("[data-label]")?.addEventListener("change", (event) => {
  chosen.label = data.classes[Number(event.target.value)];
  draw();
});

follow(draw);
})();
