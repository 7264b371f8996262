"""How often intervals from counts hold the true prevalence.

    python benchmarks/count_coverage.py
    python benchmarks/count_coverage.py --classes 3 --sizes 1_000 --methods SLD,PACC
    python benchmarks/count_coverage.py --rows       intervals from the rows, for comparison

Every repeat (seed 0) draws 1,000 labelled items with balanced classes, and samples of 200, 1,000
and 10,000 items of several prevalences under prior shift, as a sketch in cells. Counts are
resampled (100 replicates for two classes, where more make no difference, and 200 for three), the
level is 95%. For two classes the share of the second is checked,
for three that of each. Samples of one repeat share the training set: the Monte Carlo error in
brackets is taken over repeats. CC and PCC do not adjust and cannot hold a truth they are biased
against: they are checked at the training prevalence alone.
"""

import argparse
import time

import numpy as np
import polars as pl

from quantshift.base.seeding import generator
from quantshift.intervals.prediction import PrevalenceInterval
from quantshift.quantifiers.base import catalogue
from quantshift.quantifiers.base.estimator import AbstractClassifying
from quantshift.sketches import sketch
from quantshift.sketches.estimating.batches import batches_of, grouped
from quantshift.sketches.estimating.intervals import CountIntervals

N_TRAINING, LEVEL = 1000, 0.95
N_REPLICATES = {2: 100, 3: 200}
SIZES = (200, 1000, 10_000)
SHARES = {
    2: [(0.95, 0.05), (0.8, 0.2), (0.5, 0.5)],
    3: [(0.8, 0.15, 0.05), (0.2, 0.3, 0.5)],
}
METHODS = ("SLD", "PACC", "ACC", "KDEyML", "DMy", "DyS", "MS", "CC", "PCC")
"""HDy and GuardedSLD have no interval; SubclassSLD needs more than scores."""

UNADJUSTED = ("CC", "PCC")


def drawn(shares: tuple[float, ...], n: int, rng: np.random.Generator) -> pl.DataFrame:
    """Calibrated posteriors of classes with normal scores, and codes."""
    codes = rng.choice(len(shares), n, p=shares)
    scores = rng.normal(size=(n, len(shares)))
    scores[np.arange(n), codes] += 1.5
    odds = np.exp(1.5 * scores)
    p = odds / odds.sum(axis=1, keepdims=True)
    return pl.DataFrame({f"p{k}": p[:, k] for k in range(len(shares))}).with_columns(y=codes)


def coverage(n_classes: int, method: str, size: int, repeats: int, *, from_rows: bool) -> str:
    """The share of intervals that hold the truth, their mean width, and the time of one."""
    names = [f"p{k}" for k in range(n_classes)]
    balanced = (1 / n_classes,) * n_classes
    every = [balanced] if method in UNADJUSTED else SHARES[n_classes]
    held, widths = [], []
    used = time.process_time()
    for repeat in range(repeats):
        rng = generator(0, n_classes=n_classes, size=size, repeat=repeat)
        training = drawn(balanced, N_TRAINING, rng)
        fitted = catalogue.quantifiers()[method]().fit_posteriors(
            training.select(names).to_numpy(), training["y"].to_numpy()
        )
        samples = [drawn(shares, size, rng).select(names) for shares in every]
        intervals = _from_rows if from_rows else _from_counts
        looked = slice(1, None) if n_classes == 2 else slice(None)
        held.append([])
        widths.append([])
        for interval, shares in zip(intervals(fitted, samples, repeat), every, strict=True):
            low, high, truth = interval.low[looked], interval.high[looked], shares[looked]
            held[-1].append(np.mean((low <= truth) & (truth <= high)))
            widths[-1].append(np.mean(high - low))
    seconds = (time.process_time() - used) / repeats / len(every)
    over = np.mean(held, axis=1)
    error = over.std(ddof=1) / np.sqrt(repeats)
    each = "  ".join(f"{share:.0%}" for share in np.mean(held, axis=0))
    return f"{over.mean():6.1%} ({error:.1%})  width {np.mean(widths):.3f}  {seconds:.2f} s  {each}"


def _from_counts(
    fitted: AbstractClassifying, samples: list[pl.DataFrame], seed: int
) -> list[PrevalenceInterval]:
    batched = [rows.with_columns(batch=pl.lit(str(i))) for i, rows in enumerate(samples)]
    names = samples[0].columns
    made = sketch(pl.concat(batched), posteriors=names, batch="batch", bins=True)
    order = list(range(len(names)))
    batches = batches_of(made, order)
    maker = CountIntervals(fitted, level=LEVEL, n_bootstrap=N_REPLICATES[len(names)], seed=seed)
    return maker.of(list(batches), grouped(made, batches, list(batches), order))[0]


def _from_rows(
    fitted: AbstractClassifying, samples: list[pl.DataFrame], seed: int
) -> list[PrevalenceInterval]:
    n_bootstrap = N_REPLICATES[len(fitted.classes_)]
    return [
        fitted.aggregate_interval(
            rows.to_numpy(), level=LEVEL, n_bootstrap=n_bootstrap, random_state=seed
        )
        for rows in samples
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--classes", type=numbers, default=list(SHARES))
    parser.add_argument("--sizes", type=numbers, default=SIZES)
    parser.add_argument("--methods", type=lambda text: text.split(","), default=METHODS)
    parser.add_argument("--rows", action="store_true", help="intervals from the rows")
    options = parser.parse_args()
    source = "rows" if options.rows else "counts"
    print(f"Intervals of 95% from {source}, {options.repeats} training sets each")
    print("classes items   method  hold the truth (error), mean width, time, by prevalence")
    for n_classes in options.classes:
        for method in options.methods:
            for size in options.sizes:
                line = coverage(n_classes, method, size, options.repeats, from_rows=options.rows)
                print(f"{n_classes:7} {size:7,} {method:7} {line}", flush=True)


def numbers(text: str) -> list[int]:
    """Whole numbers with commas between them."""
    return [int(number) for number in text.split(",")]


if __name__ == "__main__":
    main()
