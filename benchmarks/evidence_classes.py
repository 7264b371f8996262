"""What `GuardedSLD` claims about three and more classes, and whether it is true.

    python benchmarks/evidence_classes.py [--tables uci_waveform-v1,...] [--sizes 200,1000]
        [--first-repeat 0] [--repeats 1] [--samples 5] [--bootstrap 100]

Classes of at least 100 rows of the UCI tables. Every repetition trains on at most 2,000 random rows
(half of the table if it is smaller) and draws samples of the others without replacement: with class
shares from a uniform Dirichlet distribution, as far as the classes have enough rows (prior), at
random (none), along the posterior of a random class (score), or along a random feature, which with
`both` is combined with other class shares. Printed by world and size: label shift refuted, answers
called a confidence interval, the share of their limits that hold the share of a class among the
items, and the same of all answers, with mean widths. Standard errors are clustered by training set.
"""

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from coverage_tables import clustered_error
from parts.guarded_tables import MOST_TRAINING, Trained
from parts.real_tables import LabelledTable, load
from quantshift.base.seeding import generator
from quantshift.claims import Kind
from quantshift.quantifiers.likelihood.guarded_intervals import guarded_intervals
from refutation import dense

TABLES = "uci_image_seg,uci_page_block,uci_abalone,uci_waveform-v1,uci_yeast"
WORLDS = ("prior", "none", "score", "feature", "both")
MOST_TRIALS = 100_000
"""Draws of shares before the shares of the table are taken."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", default=TABLES)
    parser.add_argument("--sizes", default="200,1000")
    parser.add_argument("--first-repeat", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--samples", type=int, default=5, help="of each world and size")
    parser.add_argument("--bootstrap", type=int, default=100)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name in options.tables.split(","):
            table = load(name, binary=False)
            for repeat in range(options.first_repeat, options.first_repeat + options.repeats):
                rows += answered(table, repeat, options)
    frame = pd.DataFrame(rows)
    print(summary(frame, ["world", "n"]))
    print(summary(frame, ["table", "n_classes"]))


def answered(table: LabelledTable, repeat: int, options: Any) -> Iterator[dict[str, Any]]:
    """A row for every sample."""
    rng = generator(0, purpose="evidence of classes", table=table.name, repeat=repeat)
    n = len(table.codes)
    train = rng.permutation(n)[: min(MOST_TRAINING, n // 2)]
    pool = np.setdiff1d(np.arange(n), train)
    y, n_classes = table.codes[pool], int(table.codes.max()) + 1
    trained = Trained.on(table, train)
    X = dense(trained.view.transform(pool))
    items = trained.quantifier.items(trained.view.transform(pool))
    q = trained.quantifier.unguarded_items(items).posteriors
    keys = [
        (world, size)
        for size in map(int, options.sizes.split(","))
        for world in WORLDS
        for _ in range(options.samples if size <= len(pool) else 0)
    ]
    samples = [drawn(world, size, y, q, X, rng) for world, size in keys]
    found = guarded_intervals(trained.quantifier, items, samples, n_bootstrap=options.bootstrap)
    for i, (world, size) in enumerate(keys):
        truth = np.bincount(y[samples[i]], minlength=n_classes) / size
        held = (found.low[i] <= truth + 1e-9) & (truth <= found.high[i] + 1e-9)
        yield {
            "table": table.name,
            "n_classes": n_classes,
            "set": f"{table.name}/{repeat}",
            "world": world,
            "n": size,
            "refuted": float(found.examined.refuted[i]),
            "interval": float(found.examined.grounds[i].kind is Kind.INTERVAL),
            "held": held.mean(),
            "width": (found.high[i] - found.low[i]).mean(),
        }


def drawn(world: str, n: int, y: Any, q: Any, X: Any, rng: np.random.Generator) -> Any:
    """Positions of a sample of a world in the pool."""
    odds = np.ones(len(y))
    if world == "score":
        rank = q[:, rng.integers(q.shape[1])].argsort().argsort() / len(y)
        odds = np.exp(rng.choice([-1, 1]) * rng.uniform(1, 3.5) * rank)
    if world in ("feature", "both"):
        spread = X.std(axis=0)
        j = rng.choice(np.flatnonzero(spread > 0))
        x = np.clip((X[:, j] - X[:, j].mean()) / spread[j], -3, 3)
        odds = np.exp(rng.choice([-1, 1]) * rng.uniform(1, 2) * x)
    if world in ("prior", "both"):
        p = possible_shares(n, np.bincount(y, minlength=q.shape[1]), rng)
        odds = odds * (p / np.bincount(y, odds, minlength=len(p)))[y]
    return rng.choice(len(y), n, p=odds / odds.sum(), replace=False)


def possible_shares(n: int, sizes: Any, rng: np.random.Generator) -> Any:
    """Uniform shares for which every class has twice as many rows as a sample of n takes."""
    for _ in range(MOST_TRIALS):
        p = rng.dirichlet(np.ones(len(sizes)))
        if (2 * n * p <= sizes).all():
            return p
    return sizes / sizes.sum()


def summary(frame: pd.DataFrame, columns: list[str]) -> str:
    """Claims, coverage of each limit, and widths."""
    lines = [f"{'':>28} {'N':>4} refuted called covers  (+-)   all  (+-) width"]
    for key, part in frame.groupby(columns, sort=False):
        called = part[part["interval"] == 1]
        lines.append(
            f"{' '.join(map(str, key)):>28} {len(part):4d} {part['refuted'].mean():7.3f} "
            f"{part['interval'].mean():6.2f} {called['held'].mean():6.3f} "
            f"{error(called, 'held'):6.3f} {part['held'].mean():5.3f} {error(part, 'held'):5.3f} "
            f"{part['width'].mean():5.2f}"
        )
    return "\n".join(lines)


def error(part: pd.DataFrame, column: str) -> float:
    """Standard error of a mean, clustered by training set; NaN for a single set."""
    if part["set"].nunique() < 2:
        return float("nan")
    return float(clustered_error(part[column].to_numpy(dtype=float), part["set"].to_numpy()))


if __name__ == "__main__":
    main()
