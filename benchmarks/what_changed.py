"""False alarms and power of `what_changed` where only the prevalence has changed.

    python benchmarks/what_changed.py [--tables development] [--first-repeat 0] [--repeats 20]
        [--train-sizes 300,2000] [--size 500]

--tables is `development`, `kept`, `made-up` or names separated by commas. Every repetition draws a
training set with the table's own share of positives and, from the other rows, a sample of --size
items at each prevalence of .1, .3, .5, .7 and .9. An alarm is a sample with any column listed as
changed at 5%. The prevalence is the true one (`known`), or the true one with a normal error of 2
points (`estimated`), with the 95% interval (`interval`), as in `quantify`. `first` is the share of
samples where a column of numbers, moved by half a standard deviation, comes first.
"""

import argparse
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from numpy.typing import NDArray

from quantshift.base.seeding import generator
from quantshift.diagnosis.column_changes import LEVEL, what_changed
from quantshift.diagnosis.sample_profile import SampleCells
from quantshift.diagnosis.training_profile import TrainingProfile, training_profile
from quantshift.tables.columns.kinds import Column
from real_tables import DEVELOPMENT, KEPT_ASIDE, load, prior_shift_sample

PREVALENCES, ERROR = (0.1, 0.3, 0.5, 0.7, 0.9), 0.02
TABLES = {"development": DEVELOPMENT, "kept": KEPT_ASIDE, "made-up": ("made-up",)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", default="development")
    parser.add_argument("--train-sizes", default="300,2000")
    parser.add_argument("--size", type=int, default=500)
    parser.add_argument("--first-repeat", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    found = pd.DataFrame(list(run(options)))
    for columns in (["table"], ["n_train"], ["p"], []):
        groups = found.groupby(columns) if columns else found.groupby(lambda _: "all")
        shares = groups[["known", "estimated", "interval", "first"]].mean()
        print(f"\n{shares.assign(samples=groups.size()).round(3)}")


def run(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for name in TABLES.get(options.tables, options.tables.split(",")):
        frame, codes, columns = made_up() if name == "made-up" else real(name)
        numbers = [c.name for c in columns if c.kind == "number" and frame[c.name].std()]
        for n_train in map(int, options.train_sizes.split(",")):
            for repeat in range(options.first_repeat, options.first_repeat + options.repeats):
                rng = generator(0, purpose="what changed", table=name, n=n_train, repeat=repeat)
                train = rng.permutation(len(codes))[: min(n_train, len(codes) // 2)]
                others = np.setdiff1d(np.arange(len(codes)), train)
                profile = training_profile(frame[train], codes[train], columns, n_classes=2)
                for p in PREVALENCES:
                    shares = np.array([1 - p, p])
                    most = (np.bincount(codes[others], minlength=2) / shares).min() / 1.3
                    size = min(options.size, int(most))
                    drawn = prior_shift_sample(codes[others], shares, size, rng)
                    sample = frame[others[drawn]]
                    outcome = alarms(profile, sample, p, rng)
                    if numbers:
                        moved = numbers[int(rng.integers(len(numbers)))]
                        by = 0.5 * float(frame[moved].std())
                        outcome["first"] = first(profile, sample, moved, by, p)
                    yield {"table": name, "n_train": n_train, "p": p, **outcome}


def alarms(
    profile: TrainingProfile, sample: pl.DataFrame, p: float, rng: np.random.Generator
) -> dict[str, bool]:
    """Whether any column is listed: with the true prevalence, an estimate, and its interval."""
    cells = SampleCells.of(profile, sample)
    estimate = float(np.clip(p + ERROR * rng.normal(), 0, 1))
    low, high = (np.clip(estimate + sign * 1.96 * ERROR, 0, 1) for sign in (-1, 1))
    limits = ([1 - high, low], [1 - low, high])
    found = {
        "known": what_changed(profile, cells, [1 - p, p]),
        "estimated": what_changed(profile, cells, [1 - estimate, estimate]),
        "interval": what_changed(profile, cells, [1 - estimate, estimate], *limits),
    }
    return {name: changes[0].p_value < LEVEL for name, changes in found.items()}


def first(profile: TrainingProfile, sample: pl.DataFrame, moved: str, by: float, p: float) -> bool:
    """Whether a column that has moved is listed first, given an interval of ±4 points."""
    cells = SampleCells.of(profile, sample.with_columns(pl.col(moved) + by))
    low, high = max(p - 0.04, 0), min(p + 0.04, 1)
    change = what_changed(profile, cells, [1 - p, p], [1 - high, low], [1 - low, high])[0]
    return change.name == moved and change.p_value < LEVEL


def real(name: str) -> tuple[pl.DataFrame, NDArray[np.int64], list[Column]]:
    table = load(name)
    frame = pl.from_pandas(table.columns)
    kinds = ["number" if dtype.is_numeric() else "category" for dtype in frame.dtypes]
    return (
        frame,
        table.codes,
        [Column(c, kind, 0) for c, kind in zip(frame.columns, kinds, strict=True)],
    )


def made_up(n: int = 20_000) -> tuple[pl.DataFrame, NDArray[np.int64], list[Column]]:
    """Numbers, counts, categories and words, some of them informative about the class."""
    rng = generator(0, purpose="made-up table")
    codes = (rng.random(n) < 0.3).astype(np.int64)
    data: dict[str, Any] = {f"x{i}": rng.normal(size=n) + 0.2 * i * codes for i in range(10)}
    data |= {f"count {i}": rng.poisson(1 + i * codes).astype(float) for i in range(4)}
    levels = np.array([f"level {i}" for i in range(200)])
    for i in range(6):
        data[f"category {i}"] = levels[np.minimum(rng.geometric(0.05 * (i + 1) + 0.1 * codes), 199)]
    words = np.array([f"word{i}" for i in range(5000)])
    ranks = rng.zipf(1.2 + 0.1 * codes[:, np.newaxis], (n, 30)).clip(max=5000) - 1
    data["review"] = [" ".join(row) for row in words[ranks]]
    gaps = rng.random(n) < 0.1 + 0.3 * codes
    data["x0"] = np.where(gaps, np.nan, data["x0"])
    kinds = {"x": "number", "co": "number", "ca": "category", "re": "text"}
    found = [Column(name, kinds[name[:2].rstrip("0123456789")], 0) for name in data]
    return pl.DataFrame(data), codes, found


if __name__ == "__main__":
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    main()
