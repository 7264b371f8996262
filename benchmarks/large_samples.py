"""What a large sample costs, and that a part of it shows how far its limits are.

    python benchmarks/large_samples.py [--rows 1000,100000,1000000] [--texts 100000] [--groups 1600]
    python benchmarks/large_samples.py --limits [--repeats 12]

Processor seconds and memory of the default `quantify`, and how many times as long as polars and
scikit-learn take in a process of their own: read both tables, fit the same classifier on all rows
and on each of five folds, predict. 5,000 labelled rows of 20 columns, of which five differ between
the classes; texts of the synthetic corpus; labelled rows in nine groups, with `--groups`.

--limits: limits of samples of 20,000 and 50,000 items, from their parts and from all of their
items. Their mean differences, in widths of the interval, beside the difference between two seeds.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.linear_model import LogisticRegression

from command_speed import texts
from quantshift import SLD, SubclassSLD
from quantshift.base.seeding import generator
from quantshift.intervals import large_samples, replicates
from quantshift.intervals.prediction import item_interval

COMMAND = "from quantshift.cli.app import main; main()"
PLAIN = """
import sys
import polars as pl
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
train, sample = (pl.read_csv(path) for path in sys.argv[1:3])
y = train["label"].to_numpy()
if "text" in train.columns:
    from sklearn.feature_extraction.text import TfidfVectorizer
    words = TfidfVectorizer()
    X, new = words.fit_transform(train["text"]), words.transform(sample["text"])
else:
    X, new = train.drop("label").to_numpy(), sample.to_numpy()
models = [LogisticRegression(max_iter=1000).fit(X, y)]
for rows, _ in StratifiedKFold(5).split(X, y):
    models.append(LogisticRegression(max_iter=1000).fit(X[rows], y[rows]))
for model in models:
    model.predict_proba(new)
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default="1000,100000,1000000")
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--groups", type=int, default=1600)
    parser.add_argument("--limits", action="store_true")
    parser.add_argument("--repeats", type=int, default=12)
    options = parser.parse_args()
    if options.limits:
        compare_limits(options.repeats)
        return
    print(f"{'':28} {'seconds':>9} {'MB':>6} {'plain':>7} {'times':>6}")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        table(5000, 0.5, 0, label=True).write_csv(place / "train.csv")
        for n in map(int, options.rows.split(",")):
            table(n, 0.3, 1).write_csv(place / f"{n}.csv")
            show(f"{n:,} rows", [*named(place / "train.csv", place / f"{n}.csv")])
        if options.texts:
            show(f"{options.texts:,} texts", texts(place, 3000, options.texts))
        if options.groups:
            grouped = table(options.groups, 0.4, 2, label=True)
            groups = generator(0, purpose="large samples: groups").integers(9, size=len(grouped))
            grouped.with_columns(group=pl.Series(groups).cast(pl.String)).write_csv(
                place / "grouped.csv"
            )
            table(1000, 0.3, 1).write_csv(place / "few.csv")
            arguments = named(place / "grouped.csv", place / "few.csv")
            show(f"{options.groups:,} rows, nine groups", [*arguments, "--groups", "group"], None)


def named(train: Path, sample: Path) -> list[str]:
    return ["--train", str(train), "--sample", str(sample), "--label", "label"]


def table(n: int, p: float, number: int, *, label: bool = False) -> pl.DataFrame:
    rng = generator(0, purpose="large samples", number=number)
    y = rng.random(n) < p
    X = rng.normal(size=(n, 20)) + 0.6 * y[:, np.newaxis] * (np.arange(20) < 5)
    columns = {f"x{i}": column.round(4) for i, column in enumerate(X.T)}
    return pl.DataFrame(columns | ({"label": np.where(y, "yes", "no")} if label else {}))


def show(name: str, arguments: Sequence[str], plain: str | None = PLAIN) -> None:
    """Print what the command uses; it has been compiled before."""
    call = [sys.executable, "-c", COMMAND, "quantify", *arguments]
    used(call)
    seconds, memory = used(call)
    line = f"{name:28} {seconds:9.1f} {memory:6.0f}"
    if plain is not None:
        by_hand, _ = used([sys.executable, "-c", plain, arguments[1], arguments[3]])
        line += f" {by_hand:7.1f} {seconds / by_hand:6.1f}"
    print(line, flush=True)


def used(call: Sequence[str]) -> tuple[float, float]:
    """Processor seconds of a process, and the most memory it had, in MB."""
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    process = subprocess.Popen(
        call, env={**os.environ, **one_thread}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise RuntimeError(f"{' '.join(call)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3


def compare_limits(repeats: int) -> None:
    print("method           items    from a part        another seed")
    for method in (SLD, SubclassSLD):
        for n in (20_000, 50_000):
            by_part, by_seed = [], []
            for repeat in range(repeats):
                train = table(5000, 0.5, 10 + repeat, label=True)
                X, y = train.drop("label").to_numpy(), train["label"].to_numpy()
                sample = table(n, (0.05, 0.3, 0.8)[repeat % 3], 100 + repeat).to_numpy()
                fitted = method(LogisticRegression()).fit(X, y)
                items = fitted.items(sample)
                part, other = (item_interval(fitted, items, random_state=s) for s in (0, 1))
                whole = from_all_items(fitted, items)
                width = whole.high[1] - whole.low[1]
                for found, than in ((by_part, whole), (by_seed, other)):
                    ends = part.low[1] - than.low[1], part.high[1] - than.high[1]
                    found.append(np.array(ends) / width)
            cells = (f"{np.abs(d).mean():.3f} ({np.mean(d):+.3f})" for d in (by_part, by_seed))
            print(f"{method.__name__:14} {n:7,}    {'     '.join(cells)}", flush=True)


def from_all_items(fitted: SLD | SubclassSLD, items: object) -> object:
    """The interval whose replicates are drawn from all items of the sample."""
    kept = large_samples.LARGE
    large_samples.LARGE = replicates.LARGE = sys.maxsize
    try:
        return item_interval(fitted, items)
    finally:
        large_samples.LARGE = replicates.LARGE = kept


if __name__ == "__main__":
    main()
