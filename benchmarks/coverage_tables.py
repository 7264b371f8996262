"""Coverage and width of the 95% interval on real tables under artificial prior shift.

    python benchmarks/coverage_tables.py [--tables kept] [--methods ACC,PACC] [--first-repeat 100]
        [--repeats 4] [--samples 4] [--classifier logistic] [--replicates 200] [--folds 20]

--tables is `development`, `kept` or names separated by commas. Every repetition draws a training
set of 500 and one of 2,000 rows, with the table's own share of positives, and from the other rows
--samples samples of 30, 100 and 500 items at each true prevalence of .02, .1, .5, .9 and .98. The
numbers of items per class are binomial, so the truth is the population's prevalence. A cell whose
pool has too few items of a class is left out. All samples of a training set share one call of
`item_interval`. Methods that need only posteriors share those of one classifier, held out in as
many folds as `quantshift quantify` takes (or --folds); those that need features are fitted on them.

The standard error of a coverage is clustered by training set, because the samples of one share its
error. Tables in `real_tables.DEVELOPMENT` may choose constants; those in `real_tables.KEPT_ASIDE`
only report.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from parts.real_tables import DEVELOPMENT, KEPT_ASIDE, Draw, draw, load, prior_shift_sample
from quantshift.base.seeding import generator
from quantshift.errors import UserError
from quantshift.intervals.prediction import item_interval
from quantshift.items.items import Items
from quantshift.quantifiers.base import catalogue
from quantshift.quantifiers.likelihood.sld import SLD
from quantshift.quantifying.training.classifiers import CLASSIFIERS
from quantshift.quantifying.training.learning import n_folds

TRAIN_SIZES = (500, 2000)
SAMPLE_SIZES = (30, 100, 500)
PREVALENCES = (0.02, 0.1, 0.5, 0.9, 0.98)
LEVEL = 0.95
TABLES = {"development": DEVELOPMENT, "kept": KEPT_ASIDE}
VIEWS: dict[str, list[str]] = {
    "pooled": [],
    "by training rows": ["n_train"],
    "by sample size": ["size"],
    "by prevalence": ["prevalence"],
    "by size and prevalence": ["size", "prevalence"],
    "by table": ["table"],
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", default="development")
    parser.add_argument("--methods", default="ACC,PACC,SMM,DyS,HDy,SLD,SubclassSLD")
    parser.add_argument("--first-repeat", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--samples", type=int, default=4, help="of each size and prevalence")
    parser.add_argument("--train-sizes", default=",".join(map(str, TRAIN_SIZES)))
    parser.add_argument("--classifier", default="logistic", choices=list(CLASSIFIERS))
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--folds", type=int, help="default: as `quantshift quantify` takes")
    parser.add_argument("--csv", help="a file for the intervals themselves")
    options = parser.parse_args()
    begun = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        intervals = pd.DataFrame(list(run(options)))
    if options.csv:
        intervals.to_csv(options.csv, index=False)
    for title, columns in VIEWS.items():
        print(f"\n{title}")
        print(summarise(intervals, columns))
    print(f"\n{time.perf_counter() - begun:.0f} s")


def run(options: Any) -> Iterator[dict[str, Any]]:
    """A row for every interval."""
    names = TABLES.get(options.tables) or options.tables.split(",")
    for name in names:
        table = load(name)
        for n_train in map(int, options.train_sizes.split(",")):
            for repeat in range(options.first_repeat, options.first_repeat + options.repeats):
                data = draw(table, n_train, repeat=repeat)
                for row in of_training_set(data, f"{name}/{n_train}/{repeat}", repeat, options):
                    yield {"table": name, "n_train": n_train, **row}


def of_training_set(
    data: Draw, training_set: str, repeat: int, options: Any
) -> Iterator[dict[str, Any]]:
    """The intervals of all samples and methods of one training set."""
    cells, rows = samples(data, training_set, options.samples)
    if not rows:
        return
    # Only the items that are in a sample need to be classified.
    used, positions = np.unique(np.concatenate(rows), return_inverse=True)
    rows = np.split(positions, np.cumsum([len(r) for r in rows])[:-1])
    X = data.X_pool[used]
    learner = CLASSIFIERS[options.classifier](repeat)
    folds = options.folds or n_folds(data.y_train)
    methods = {name: catalogue.quantifiers()[name] for name in options.methods.split(",")}
    scorer, pool = None, Items()
    if any("features" not in cls.tags.sees for cls in methods.values()):
        scorer = SLD(learner, cv=folds, random_state=repeat).fit(data.X_train, data.y_train)
        pool = scorer.items(X)
    for name, cls in methods.items():
        if "features" in cls.tags.sees:
            parameters = {"classifier": learner, "cv": folds, "seed": repeat}
            known = cls().get_params(deep=False)
            quantifier = cls(**{k: v for k, v in parameters.items() if k in known})
            quantifier.fit(data.X_train, data.y_train)
            items = quantifier.items(X)
        else:
            assert scorer is not None
            quantifier = cls().fit_posteriors(scorer.held_out_posteriors_, data.y_train)
            items = pool
        begun = time.perf_counter()
        try:
            found = item_interval(
                quantifier,
                items,
                rows,
                level=LEVEL,
                n_bootstrap=options.replicates,
                random_state=repeat,
            )
        except UserError as error:
            print(f"{name}: {error}")
            continue
        seconds = (time.perf_counter() - begun) / len(rows)
        for (size, p), p_hat, low, high in zip(
            cells, found.prevalence[:, 1], found.low[:, 1], found.high[:, 1], strict=True
        ):
            yield {
                "training_set": training_set,
                "method": name,
                "size": size,
                "prevalence": p,
                "p_hat": p_hat,
                "low": low,
                "high": high,
                "seconds": seconds,
            }


def samples(
    data: Draw, training_set: str, n_samples: int
) -> tuple[list[tuple[int, float]], list[np.ndarray]]:
    """(size, prevalence) of the samples, and the positions of their items in the pool."""
    rng = generator(0, purpose="coverage of tables", training_set=training_set)
    available = np.bincount(data.y_pool, minlength=2)
    cells, rows = [], []
    for size in SAMPLE_SIZES:
        for p in PREVALENCES:
            shares = np.array([1 - p, p])
            # A sample with repeated items would hold less information than its size suggests.
            if np.any(size * shares + 3 * np.sqrt(size * p * (1 - p)) > available):
                continue
            for _ in range(n_samples):
                cells.append((size, p))
                rows.append(prior_shift_sample(data.y_pool, shares, size, rng))
    return cells, rows


def summarise(intervals: pd.DataFrame, columns: list[str]) -> str:
    """Coverage with its clustered standard error, width and error of every method."""
    lines = []
    head = " ".join(f"{name:>20}" if name == "table" else f"{name:>10}" for name in columns)
    lines.append(
        f"{head} {'method':12} {'coverage':>8} {'+-':>5} {'below':>6} {'above':>6} {'width':>6} "
        f"{'error':>6} {'bias':>7} {'n':>6} {'sets':>5} {'ms':>6}"
    )
    for key, part in intervals.groupby([*columns, "method"], sort=True):
        truth = part["prevalence"].to_numpy()
        low, high = part["low"].to_numpy(), part["high"].to_numpy()
        # A limit that equals the truth but for rounding covers it.
        below, above = high < truth - 1e-12, low > truth + 1e-12
        covered = ~(below | above)
        error = part["p_hat"].to_numpy() - truth
        clusters = part["training_set"].to_numpy()
        names = " ".join(
            f"{value:>20}" if name == "table" else f"{value:>10}"
            for name, value in zip(columns, key[:-1], strict=True)
        )
        lines.append(
            f"{names} {key[-1]:12} {covered.mean():8.3f} {clustered_error(covered, clusters):5.3f} "
            f"{below.mean():6.3f} {above.mean():6.3f} {(high - low).mean():6.3f} "
            f"{np.abs(error).mean():6.4f} {error.mean():7.4f} {len(part):6d} "
            f"{len(np.unique(clusters)):5d} {1000 * part['seconds'].mean():6.1f}"
        )
    return "\n".join(lines)


def clustered_error(values: np.ndarray, clusters: np.ndarray) -> float:
    """Standard error of the mean of values that are independent between clusters only."""
    names, codes = np.unique(clusters, return_inverse=True)
    if len(names) < 2:
        return float("nan")
    sums = np.bincount(codes, values - values.mean())
    return float(np.sqrt((sums**2).sum() * len(names) / (len(names) - 1)) / len(values))


if __name__ == "__main__":
    main()
