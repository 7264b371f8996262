"""GuardedSLD in the paper's experiments, against SubclassSLD, SLD and PCC on the same samples.

    python benchmarks/guarded_reviews.py run REVIEWS OUT [--experiments prior local ...]
        [--repeats 5 6 7 8 9] [--test-repeats 50] [--alphas 0 1]
    python benchmarks/guarded_reviews.py compare OUT...

`run` puts the methods through the experiments of the library, each with the paper's sizes, and
writes a file for every experiment into OUT; REVIEWS is an imported data set of two
categories. GuardedSLD learns its own classifier (logistic regression with C = 10); the others
choose theirs by validation samples, as in the paper. --test-repeats below 50 draws fewer samples of
every kind from each training set; --alphas limits the covariate experiment to training sets with
these shares of the first category (default: all).

`compare` prints mean absolute errors and the share of samples that GuardedSLD calls refuted, by
kind of shift; extremes are training sets of one category only. Standard errors are over training
sets. Repetitions 0 to 4 were used to choose the constants of both methods; report the others.
"""

import argparse
import time
from pathlib import Path

import polars as pl
from threadpoolctl import threadpool_limits

from quantshift.lab.data import FolderSource, open_source
from quantshift.lab.experiments.cell import run_cell
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.planning import cells_of
from quantshift.lab.experiments.population import population_of
from subclass_experiment import EXPERIMENTS, PARTS, SAMPLE, part

METHODS = ["GuardedSLD", "SubclassSLD", "SLD", "PCC"]
TRAINING_SET = ["experiment", "p_train", "alpha_train", "cut_train", "train_repeat"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run")
    run.add_argument("reviews", type=Path)
    run.add_argument("out", type=Path)
    run.add_argument("--experiments", nargs="+", default=EXPERIMENTS)
    run.add_argument("--repeats", type=int, nargs="+", default=[5, 6, 7, 8, 9])
    run.add_argument("--test-repeats", type=int, default=50)
    run.add_argument("--alphas", type=float, nargs="+")
    compare = verbs.add_parser("compare")
    compare.add_argument("out", type=Path, nargs="+")
    options = parser.parse_args()
    if options.verb == "run":
        options.out.mkdir(parents=True, exist_ok=True)
        with threadpool_limits(limits=1):
            for name in options.experiments:
                begun = time.perf_counter()
                frame = outcomes(name, options)
                frame.write_parquet(options.out / f"{name}.parquet")
                seconds = time.perf_counter() - begun
                print(f"{name}: {len(frame) // len(METHODS)} samples, {seconds:.0f} s", flush=True)
    else:
        files = [file for out in options.out for file in sorted(out.glob("*.parquet"))]
        report(pl.concat([pl.read_parquet(file) for file in files], how="diagonal_relaxed"))


def outcomes(name: str, options: argparse.Namespace) -> pl.DataFrame:
    """The estimates of all methods, a row per sample and method."""
    experiment = load_experiment(
        name, overrides={"quantifiers": METHODS, "shift.test_repeats": options.test_repeats}
    )
    dataset = open_source(FolderSource(options.reviews))
    population = population_of(experiment, dataset)
    frames = []
    for cell in cells_of(name, dataset.name, experiment.shift):
        point = cell.coordinates
        wanted = options.alphas is None or point.get("alpha_train") in options.alphas
        if wanted and point["train_repeat"] in options.repeats:
            frame = run_cell(experiment, cell, experiment.methods, dataset, population)
            kept = [column for column in SAMPLE if column in frame.columns]
            frames.append(
                frame.select(
                    *kept,
                    "method",
                    "refuted",
                    pl.col("p_hat", "p_true").list.get(1),
                )
            )
    return pl.concat(frames)


def report(frame: pl.DataFrame) -> None:
    """Errors by kind of shift, with standard errors over training sets."""
    for column in [*TRAINING_SET, "p_test", "alpha_test", "cut_test", "control"]:
        if column not in frame.columns:
            frame = frame.with_columns(pl.lit(None).alias(column))
    rows = frame.with_columns(part=part(), error=(pl.col("p_hat") - pl.col("p_true")).abs())
    print(f"{'shift':16}" + "".join(f"{name:>18}" for name in METHODS) + "  refuted")
    for name in [name for name in PARTS if name in set(rows["part"])]:
        part_rows = rows.filter(pl.col("part") == name)
        line = f"{name:16}"
        for method in METHODS:
            line += f"  {spread(part_rows.filter(pl.col('method') == method), 'error', 4)}"
        guarded = part_rows.filter(pl.col("method") == "GuardedSLD")
        counted = guarded.with_columns(pl.col("refuted").cast(pl.Float64))
        sets = guarded.select(TRAINING_SET).n_unique()
        print(f"{line}  {spread(counted, 'refuted', 3)}  {len(guarded)} samples, {sets} sets")


def spread(rows: pl.DataFrame, column: str, digits: int) -> str:
    """A mean with its standard error over training sets."""
    per_set = rows.group_by(TRAINING_SET).agg(pl.col(column).mean())[column]
    error = float(per_set.std() or 0.0) / len(per_set) ** 0.5  # type: ignore[arg-type]
    return f"{per_set.mean():.{digits}f} +- {error:.{digits}f}"


if __name__ == "__main__":
    main()
