"""Coverage of 95% intervals and of audits on real reviews, under every kind of shift.

    python benchmarks/coverage.py REVIEWS [--trainings 4] [--samples 10] [--methods SLD] [--audit]

REVIEWS is a data set of two categories (`quantshift data import --layout reviews`).
Training sets of 5,000, samples of 500. A sample is a draw from a population: its numbers of items
per category and star are multinomial, and the truth is the population's prevalence. `--fixed`
samples have exactly the population's shares; there an interval for the population is wider than
necessary. Held-out posteriors come from as many folds as in `quantshift quantify` (20), or from
`--folds`. With --audit, k items of each sample are labelled, and the audit's interval is compared
with the interval from the k labels alone. `reported` is what `quantshift quantify` reports:
SubclassSLD's interval or, where the shift test rejects (its share is the last column), the range
over the kinds of shift that have weight. With --each every prevalence has its own row.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from quantshift.answers.rows import Rows
from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices
from quantshift.intervals.prediction import item_interval
from quantshift.lab.data import Dataset, FolderSource, open_source
from quantshift.labelling.audit import audit_interval, count_interval
from quantshift.prevalence.simplex import whole_counts
from quantshift.quantifiers.base import catalogue
from quantshift.quantifiers.likelihood.sld import SLD
from quantshift.quantifying.columns import Columns
from quantshift.quantifying.estimating.evidence import examine
from quantshift.quantifying.training.learning import n_folds
from quantshift.quantifying.training.model import Model, Training
from quantshift.tables.columns.kinds import TEXT, Column

TRAIN_SIZE, SAMPLE_SIZE, LEVEL = 5000, 500, 0.95
LABELLED = (50, 100, 200)


@dataclass(frozen=True, eq=False)
class World:
    """Shares of (category, star) in training and in the samples, and what counts as positive.

    train, test: shape (2, 5); a star at or above a cut is positive.
    """

    kind: str
    train: np.ndarray
    test: np.ndarray
    cut_train: int = 4
    cut_test: int = 4

    @property
    def p_true(self) -> float:
        return float(self.test[:, self.cut_test - 1 :].sum())


def worlds(stars: np.ndarray) -> list[World]:
    """stars: shares of the five stars in each category, shape (2, 5)."""

    def mixed(alpha: float, p_a: float, p_b: float) -> np.ndarray:
        # Three stars are dropped; inside a class the stars keep their natural proportions.
        rows = []
        for share, p, category_stars in ((alpha, p_a, stars[0]), (1 - alpha, p_b, stars[1])):
            low, high = (
                category_stars[:2] / category_stars[:2].sum(),
                category_stars[3:] / category_stars[3:].sum(),
            )
            rows.append(share * np.concatenate([(1 - p) * low, [0.0], p * high]))
        return np.array(rows)

    even = mixed(0.5, 0.5, 0.5)
    found = [
        World(kind, mixed(0.5, train, train), mixed(0.5, p, p))
        for kind, train in (("prior", 0.5), ("prior, rare", 0.1), ("prior, common", 0.9))
        for p in (0.1, 0.3, 0.5, 0.7, 0.9)
    ]
    found += [World("covariate, pure", even, mixed(a, 0.5, 0.5)) for a in (0.0, 0.25, 0.75, 1.0)]
    found += [
        World("covariate, mixed", even, mixed(a, p, p)) for a in (0.1, 0.9) for p in (0.25, 0.75)
    ]
    local = mixed(0.5, 2 / 3, 1 / 3)
    for p in (0.25, 0.35, 0.65, 0.75):
        positive = (p * (4 / 3) - 1 / 3) / (1 - p) + 0.0
        size = 1 / 3 + 1 + positive
        a = (1 / 3 + positive) / size
        found.append(World("local", local, mixed(a, positive / (1 / 3 + positive), 1 / 3)))
    balanced = np.full((2, 5), 0.1)
    found += [World("concept", balanced, balanced, 3, cut) for cut in (2, 4)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("reviews", type=Path)
    parser.add_argument("--trainings", type=int, default=4)
    parser.add_argument("--samples", type=int, default=10, help="per training set and world")
    parser.add_argument("--methods", default="SLD,SubclassSLD")
    parser.add_argument("--kinds", default="", help="of shift, separated by semicolons")
    parser.add_argument("--folds", type=int)
    parser.add_argument("--each", action="store_true", help="a row for every prevalence")
    parser.add_argument("--bootstrap", type=int, default=1000)
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--audit", action="store_true")
    options = parser.parse_args()
    dataset = open_source(FolderSource(options.reviews))
    begun = time.perf_counter()
    with threadpool_limits(1):
        rows = run(dataset, options)
    columns = ("coverage", "width", "error", "bias", "n", "rejected")
    print(f"{'kind':25} {'method':12}", *(f"{name:>8}" for name in columns))
    grouped: dict[tuple[str, str], list[Any]] = {}
    for (kind, p_true, method), values in rows.items():
        name = f"{kind}, p = {p_true:.2f}" if options.each else kind
        grouped.setdefault((name, method), []).extend(values)
    for (name, method), values in grouped.items():
        covered, width, bias, rejected = np.array(values, dtype=float).mean(axis=0)
        error = np.abs([value[2] for value in values]).mean()
        share = "" if np.isnan(rejected) else f"{rejected:8.3f}"
        figures = f"{covered:8.3f} {width:8.3f} {error:8.4f} {bias:8.4f} {len(values):8d} {share}"
        print(f"{name:25} {method:12} {figures}".rstrip())
    print(f"{time.perf_counter() - begun:.0f} s")


def run(dataset: Dataset, options: Any) -> dict[tuple[str, float, str], list[Any]]:
    names, categories = np.unique(dataset.categories, return_inverse=True)
    if len(names) != 2:
        raise SystemExit("the reviews need two categories")
    groups = [
        [np.flatnonzero((categories == c) & (dataset.labels == s)) for s in range(1, 6)]
        for c in (0, 1)
    ]
    stars = np.array([[len(g) for g in row] for row in groups], dtype=float)
    known = catalogue.quantifiers()
    methods = {name: known[name] for name in options.methods.split(",") if name}
    rows: dict[tuple[str, float, str], list[Any]] = {}
    for repeat in range(options.trainings):
        rng = generator(0, purpose="coverage", repeat=repeat)
        halves = [
            [np.array_split(rng.permutation(g), [len(g) * 3 // 5]) for g in row] for row in groups
        ]
        trained: dict[bytes, Any] = {}
        for world in worlds(stars / stars.sum(axis=1, keepdims=True)):
            if options.kinds and world.kind not in options.kinds.split(";"):
                continue
            key = world.train.tobytes()
            if key not in trained:
                drawn = draw(halves, 0, whole_counts(world.train.ravel(), TRAIN_SIZE), rng)
                trained[key] = fit(dataset, drawn, world.cut_train, methods, options.folds)
            view, fitted, scorer = trained[key]
            samples, labels = [], []
            for _ in range(options.samples):
                shares = world.test.ravel()
                counts = (
                    whole_counts(shares, SAMPLE_SIZE)
                    if options.fixed
                    else rng.multinomial(SAMPLE_SIZE, shares / shares.sum())
                )
                items = rng.permutation(draw(halves, 1, counts, rng))
                samples.append(items)
                labels.append((dataset.labels[items] >= world.cut_test).astype(np.int64))
            X = view.transform(np.concatenate(samples))
            index = np.arange(len(samples) * SAMPLE_SIZE).reshape(len(samples), -1)
            shared = scorer.items(X)
            for name, quantifier in fitted.items():
                items = quantifier.items(X) if "features" in quantifier.tags.sees else shared
                if name == "SubclassSLD":
                    reported(rows, world, quantifier, items, index, options.bootstrap, repeat)
                    continue
                found = item_interval(
                    quantifier,
                    items,
                    index,
                    level=LEVEL,
                    n_bootstrap=options.bootstrap,
                    random_state=repeat,
                )
                for p_hat, low, high in zip(found.prevalence, found.low, found.high, strict=True):
                    record(rows, world, name, p_hat[1], low[1], high[1])
            if options.audit:
                for posteriors, truth in zip(
                    shared.posteriors.reshape(len(samples), SAMPLE_SIZE, 2), labels, strict=True
                ):
                    audit(rows, world, posteriors, truth)
    return rows


def reported(
    rows: Any, world: World, quantifier: Any, items: Any, index: Any, replicates: int, seed: int
) -> None:
    model = Model(
        columns=Columns(features=(Column("text", TEXT, 0),)),
        classes=("negative", "positive"),
        preparation=None,
        scorer=quantifier,
        base=quantifier,
        quantifier=quantifier,
        method="SubclassSLD",
        reason="",
        training=Training(Rows("", TRAIN_SIZE, TRAIN_SIZE, {}), {}, "logistic", None, seed),
    )
    alone = item_interval(
        quantifier, items, index, level=LEVEL, n_bootstrap=replicates, random_state=seed
    )
    for p_hat, low, high in zip(alone.prevalence, alone.low, alone.high, strict=True):
        record(rows, world, "SubclassSLD", p_hat[1], low[1], high[1])
    for found in examine(model, items, list(index), level=LEVEL, n_bootstrap=replicates, seed=seed):
        interval, shift = found.interval, found.shift
        rejected = shift is not None and shift.rejected
        record(
            rows,
            world,
            "reported",
            interval.prevalence[1],
            interval.low[1],
            interval.high[1],
            rejected,
        )


def audit(rows: Any, world: World, posteriors: np.ndarray, labels: Codes) -> None:
    for k in LABELLED:
        # The items are in random order already.
        found = audit_interval(posteriors, np.arange(k), labels[:k], level=LEVEL)
        record(rows, world, f"audit k={k}", found.prevalence[1], found.low[1], found.high[1])
        counted = count_interval(labels[:k], 2, level=LEVEL)
        record(rows, world, f"count k={k}", counted.prevalence[1], counted.low[1], counted.high[1])


def record(
    rows: Any,
    world: World,
    name: str,
    p_hat: float,
    low: float,
    high: float,
    rejected: Any = np.nan,
) -> None:
    truth = world.p_true
    rows.setdefault((world.kind, truth, name), []).append(
        (low <= truth <= high, high - low, p_hat - truth, rejected)
    )


def draw(halves: Any, side: int, counts: np.ndarray, rng: np.random.Generator) -> Indices:
    pools = [half[side] for row in halves for half in row]
    return np.concatenate(
        [rng.choice(pool, n, replace=False) for pool, n in zip(pools, counts, strict=True)]
    )


def fit(dataset: Dataset, items: Indices, cut: int, methods: Any, folds: int | None) -> Any:
    view = dataset.view(items)
    X, y = view.transform(items), (dataset.labels[items] >= cut).astype(np.int64)
    classifier = LogisticRegression(C=10, max_iter=1000)
    scorer = SLD(classifier, cv=folds or n_folds(y)).fit(X, y)
    fitted = {
        # Methods that use features train their own classifiers; the others share posteriors.
        name: cls(classifier, cv=folds or n_folds(y)).fit(X, y)
        if "features" in cls.tags.sees
        else cls().fit_posteriors(scorer.held_out_posteriors_, y)
        for name, cls in methods.items()
    }
    return view, fitted, scorer


if __name__ == "__main__":
    main()
