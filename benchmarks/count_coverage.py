"""How often intervals from counts hold the true prevalence.

    python benchmarks/count_coverage.py              about 15 minutes of processor time
    python benchmarks/count_coverage.py --repeats 200

Every repeat (seed 0) draws 1,000 labelled items with balanced classes, and samples of 1,000 and
100,000 items of several prevalences under prior shift, as a sketch in cells. Counts are resampled
(200 replicates), the level is 95%. Of two classes the share of the second is looked at, of three
that of each. Samples of one repeat share the training set: the Monte Carlo error in brackets is
taken over repeats. CC and PCC do not adjust, and cannot hold a truth they are biased against: they
are there for comparison, at the training prevalence alone.
"""

import argparse
import time

import numpy as np
import polars as pl

from quantshift import catalogue, sketch
from quantshift.seeding import generator
from quantshift.sketches.count_intervals import CountIntervals
from quantshift.sketches.sketch_batches import batches_of, grouped

N_TRAINING, N_REPLICATES, LEVEL = 1000, 200, 0.95
SIZES = (1000, 100_000)
SHARES = {
    2: [(0.95, 0.05), (0.8, 0.2), (0.5, 0.5)],
    3: [(0.8, 0.15, 0.05), (0.2, 0.3, 0.5)],
}
METHODS = {2: ("SLD", "PACC", "ACC"), 3: ("SLD", "PACC", "ACC")}
UNADJUSTED = ("CC", "PCC")


def drawn(shares: tuple[float, ...], n: int, rng: np.random.Generator) -> pl.DataFrame:
    """Calibrated posteriors of classes with normal scores, and codes."""
    codes = rng.choice(len(shares), n, p=shares)
    scores = rng.normal(size=(n, len(shares)))
    scores[np.arange(n), codes] += 1.5
    odds = np.exp(1.5 * scores)
    p = odds / odds.sum(axis=1, keepdims=True)
    return pl.DataFrame({f"p{k}": p[:, k] for k in range(len(shares))}).with_columns(y=codes)


def coverage(n_classes: int, method: str, size: int, repeats: int) -> str:
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
        rows = pl.concat(
            drawn(shares, size, rng).with_columns(batch=pl.lit(str(i)))
            for i, shares in enumerate(every)
        )
        made = sketch(rows, posteriors=names, batch="batch", bins=True)
        order = list(range(n_classes))
        batches = batches_of(made, order)
        found, _ = CountIntervals(fitted, level=LEVEL, n_bootstrap=N_REPLICATES, seed=repeat).of(
            list(batches), grouped(made, batches, list(batches), order)
        )
        looked = slice(1, None) if n_classes == 2 else slice(None)
        held.append(
            [
                np.mean((own.low <= shares)[looked] & (shares <= own.high)[looked])
                for own, shares in zip(found, np.array(every), strict=True)
            ]
        )
        widths.append([np.mean((own.high - own.low)[looked]) for own in found])
    seconds = (time.process_time() - used) / repeats / len(every)
    over = np.mean(held, axis=1)
    error = over.std(ddof=1) / np.sqrt(repeats)
    each = "  ".join(f"{share:.0%}" for share in np.mean(held, axis=0))
    return f"{over.mean():6.1%} ({error:.1%})  width {np.mean(widths):.3f}  {seconds:.2f} s  {each}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=100)
    options = parser.parse_args()
    print(f"Intervals of 95% from counts, {options.repeats} training sets each")
    print("classes items   method  hold the truth (error), mean width, time, by prevalence")
    for n_classes, methods in METHODS.items():
        for size in SIZES:
            for method in (*methods, *UNADJUSTED):
                told = coverage(n_classes, method, size, options.repeats)
                print(f"{n_classes:7} {size:7,} {method:7} {told}", flush=True)


if __name__ == "__main__":
    main()
