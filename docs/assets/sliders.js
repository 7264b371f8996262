// What two sliders' worth of numbers do to an answer, computed with the library's own formulas:
// labels in strata (labelling/strata.py) and two intervals (quantifiers/likelihood/two_intervals.py).
(() => {
    const Z = 1.959963984540054;

    const normal = (x) => Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);

    const cumulative = (x) => {
        // By its continued fraction or its series (Abramowitz and Stegun 26.2.10, 26.2.14).
        const t = Math.abs(x);
        let tail = 0;
        if (t > 3) {
            let fraction = t;
            for (let k = 60; k > 0; k -= 1) fraction = t + k / fraction;
            tail = normal(t) / fraction;
        } else {
            let term = t, sum = t;
            for (let k = 1; k < 100; k += 1) {
                term *= -t * t / (2 * k);
                sum += term / (2 * k + 1);
            }
            tail = 0.5 - sum / Math.sqrt(2 * Math.PI);
        }
        return x > 0 ? 1 - tail : tail;
    };

    const quantile = (p) => {
        let low = -9, high = 9;
        for (let k = 0; k < 60; k += 1) {
            const middle = (low + high) / 2;
            if (cumulative(middle) < p) low = middle; else high = middle;
        }
        return (low + high) / 2;
    };

    const pearson3 = (s) => {
        // Wilson and Hilferty: a gamma variable's cube root is nearly normal.
        if (Math.abs(s) < 1e-6) return Z;
        const cube = (1 - s * s / 36 + s * Z / 6) ** 3;
        return 2 / s * (cube - 1);
    };

    // The distance from the share of a class up to its limit.
    const margin = (strata) => {
        const labelled = strata.filter(({ n }) => n > 0);
        const weights = labelled.map(({ w, n, seen }) => (n - seen > 0 ? w / n : 0));
        const heaviest = Math.max(0, ...weights);
        if (heaviest === 0) return 0;
        let alike = 0;
        for (const { w, n, seen } of labelled) alike += (w / n) ** 2 * seen * (n - seen) / n;
        alike /= heaviest ** 2;
        const prior = 0.5 * Math.min(1, 3 / labelled.length);
        const worst = weights.indexOf(heaviest);
        let spread = 0, third = 0, shift = 0;
        labelled.forEach(({ w, n, seen }, h) => {
            let added = prior * alike / (alike + 3);
            if (h === worst) added = Math.max(added, 0.5 / (1 + alike / 5));
            const others = n - seen, a = seen + added;
            const b = others + prior * Math.max(others / (others + 2), others / n);
            const total = a + b, mean = a / total, widening = 1 + 8 / Math.max(n, 1) ** 2;
            spread += w * w * mean * (b / total) / (total + 1) * widening;
            third += 2 * w ** 3 * a * b * (b - a) / (total ** 3 * (total + 1) * (total + 2))
                * widening ** 1.5;
            shift += w * (mean - seen / n);
        });
        const error = Math.sqrt(spread);
        return Math.max(shift + error * pearson3(third / error ** 3), 0);
    };

    // strata: the share of the items, the labels, and the rate of the class in each.
    const interval = (strata, left) => {
        const p = strata.reduce((sum, { share, rate }) => sum + share * rate, 0);
        const of = (count) => strata.map(({ share, n, rate }) => (
            { w: share * Math.sqrt(left), n, seen: count(n, rate) }));
        return {
            estimate: p,
            low: Math.max(p - margin(of((n, rate) => n * (1 - rate))), 0),
            high: Math.min(p + margin(of((n, rate) => n * rate)), 1),
        };
    };

    const judge = ({ share, sensitivity, specificity, labels, items }) => {
        const n = Math.min(labels, items), left = 1 - n / items;
        const passed = share * sensitivity + (1 - share) * (1 - specificity);
        const strata = [
            { share: 1 - passed, right: share * (1 - sensitivity) },
            { share: passed, right: share * sensitivity },
        ].filter((stratum) => stratum.share > 0).map((stratum) => ({
            share: stratum.share, n: n * stratum.share, rate: stratum.right / stratum.share }));
        return {
            naive: passed,
            judged: interval(strata, left),
            alone: interval([{ share: 1, n, rate: share }], left),
        };
    };

    const shift = ({ auc, trained, share, items }) => {
        const d = Math.SQRT2 * quantile(auc), edge = -Math.log(trained / (1 - trained)) / d;
        const high = (x) => normal(x - d / 2), low = (x) => normal(x + d / 2);
        const posterior = (x) => 1 / (1 + Math.exp(-d * x) * (1 - trained) / trained);
        let information = 0, mean = 0;
        const steps = 4000, width = (d + 16) / steps;
        for (let i = 0; i <= steps; i += 1) {
            const x = -d / 2 - 8 + i * width;
            const density = share * high(x) + (1 - share) * low(x);
            information += (high(x) - low(x)) ** 2 / density * width;
            mean += posterior(x) * density * width;
        }
        const spread = (p) => p * (1 - p);
        // Of the share among the items: that of the draw of the items does not count.
        const variance = Math.max(1 / information - spread(share), 0) / items;
        const reach = 2.5 * Math.sqrt(variance);
        const h = Math.sqrt(spread(mean) * (0.1 ** 2 + Z * Z / items));
        const clipped = (p, by) => (
            { estimate: p, low: Math.max(p - by, 0), high: Math.min(p + by, 1) });
        return {
            counting: share * (1 - cumulative(edge - d / 2))
                + (1 - share) * (1 - cumulative(edge + d / 2)),
            prior: clipped(share, reach),
            covariate: clipped(mean, h),
        };
    };

    const percent = (p, digits = 1) => `${(100 * p).toFixed(digits)}%`;
    const limits = ({ low, high }) => `${(100 * low).toFixed(1)} to ${percent(high)}`;
    const number = (n) => Math.round(n).toLocaleString("en");

    const PARTS = {
        judge: {
            sliders: [
                ["share", "true share of good answers", 0.6, 0.02, 0.98, 0.01, percent],
                ["sensitivity", "good answers that the judge passes", 0.95, 0.5, 1, 0.01, percent],
                ["specificity", "bad answers that it fails", 0.7, 0.5, 1, 0.01, percent],
                ["labels", "answers that people label, at random", 200, 20, 500, 10, number],
                ["items", "answers in all", 2000, 500, 20000, 500, number],
            ],
            compute: judge,
            rows: ({ naive, judged, alone }) => [
                ["counting the verdicts", { low: naive, high: naive }, percent(naive)],
                ["labels alone", alone, limits(alone)],
                ["labels and verdicts", judged, limits(judged)],
            ],
            says: ({ naive, judged, alone }) => {
                const wrong = naive < judged.low || naive > judged.high;
                const gain = 1 - (judged.high - judged.low) / (alone.high - alone.low);
                return `The judge says ${percent(naive)}, which is ${wrong ? "outside" : "inside"} `
                    + `the interval. Its verdicts make the interval of the labels `
                    + `${percent(Math.max(gain, 0), 0)} shorter.`;
            },
        },
        shift: {
            sliders: [
                ["auc", "how well the classifier separates the classes (AUC)", 0.88, 0.6, 0.99,
                    0.01, (p) => p.toFixed(2)],
                ["trained", "share in training", 0.5, 0.05, 0.95, 0.01, percent],
                ["share", "share now, if only the shares of the classes changed", 0.15, 0.01, 0.99,
                    0.01, percent],
                ["items", "new items", 1000, 150, 20000, 50, number],
            ],
            compute: shift,
            rows: ({ counting, prior, covariate }) => [
                ["counting predictions", { low: counting, high: counting }, percent(counting)],
                ["either: only the shares changed", prior, limits(prior)],
                ["or: only the mix of items changed", covariate, limits(covariate)],
            ],
            says: ({ prior, covariate }) => (
                prior.low <= covariate.high && covariate.low <= prior.high
                    ? "The two answers meet: whichever assumption holds, the share is near them."
                    : "The same items have two explanations. Nothing in them can tell which one "
                    + "holds; a few labels can."),
        },
    };

    const element = (name, attributes, ...children) => {
        const made = document.createElement(name);
        for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
        made.append(...children);
        return made;
    };

    const fill = (place, name) => {
        const { sliders, compute, rows, says } = PARTS[name];
        const values = Object.fromEntries(sliders.map(([key, , start]) => [key, start]));
        const table = element("div", { class: "bars" });
        const sentence = element("p", { role: "status" });
        const draw = () => {
            const found = compute(values);
            table.replaceChildren(...rows(found).map(([title, { low, high }, text]) => {
                const bar = element("span", { class: low === high ? "point" : "range" });
                bar.style.left = `${100 * low}%`;
                bar.style.width = `${100 * (high - low)}%`;
                return element("div", {}, element("span", { class: "title" }, title),
                    element("span", { class: "scale", "aria-hidden": "true" }, bar),
                    element("span", { class: "text" }, text));
            }));
            sentence.textContent = says(found);
        };
        const controls = sliders.map(([key, title, start, min, max, step, shown]) => {
            const value = element("output", {}, shown(start));
            const id = `${name}-${key}`;
            const input = element("input", { type: "range", id, min, max, step, value: start });
            input.addEventListener("input", () => {
                values[key] = Number(input.value);
                value.textContent = shown(values[key]);
                draw();
            });
            return element("div", {}, element("label", { for: id }, title), input, value);
        });
        draw();
        place.replaceChildren(element("div", { class: "controls" }, ...controls), table, sentence);
    };

    const start = () => {
        for (const place of document.querySelectorAll("[data-sliders]")) {
            if (!place.querySelector(".controls")) fill(place, place.dataset.sliders);
        }
    };
    globalThis.quantshift = { judge, shift };
    if (document.readyState === "loading") {
        document.addEventListener("DOMContentLoaded", start);
    } else {
        start();
    }
})();
