"""Natural shift through the command line: CSV in, JSON out.

    python benchmarks/natural_command.py [--tables kept] [--training-groups 2] [--first-group 0]
        [--most-rows 2000] [--artificial] [--csv FILE] [--read FILE [FILE ...]]

The tasks of `benchmarks/natural.py`: train on a group of a real table, estimate every other group
of at least 100 rows with `quantshift quantify --by`. Prints mean absolute errors of the share of
positives: of the number shown, of its two readings, of SubclassSLD, of returning the training
prevalence; and how often the interval covers the truth, how wide it is, how many samples are
unexplained or in doubt, and the smallest width. Many samples cannot be estimated; the errors of PCC
and of the training prevalence are therefore also printed for those that can. With --artificial only
the prevalence changes; the samples are drawn with replacement, so that those of a rare class hold
many copies. --first-group skips the first training groups or repetitions. --read: print what --csv
has written instead. Means and standard errors are over tasks.
"""

import argparse
import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits

from natural import GROUPS, SMALLEST, SMALLEST_CLASS, SMALLEST_TRAINING, TABLES
from parts.real_tables import LabelledTable, load
from quantshift.base.seeding import generator
from quantshift.claims import Assumption, Explanation
from quantshift.cli.app import main as quantshift

BATCH, LABEL = "batch of the sample", "is positive"
REFUTED = (Explanation.UNEXPLAINED, Explanation.IN_DOUBT)
SIZES = (100, 500, 2000)
"""Of samples with an artificial prevalence."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", default="kept")
    parser.add_argument("--training-groups", type=int, default=2)
    parser.add_argument("--first-group", type=int, default=0)
    parser.add_argument("--most-rows", type=int, default=2000)
    parser.add_argument("--artificial", action="store_true")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--read", nargs="+", type=Path)
    options = parser.parse_args()
    if options.read:
        report(pl.concat(map(pl.read_csv, options.read), how="vertical_relaxed"))
        return
    names = TABLES.get(options.tables) or options.tables.split(",")
    found = []
    with threadpool_limits(1), tempfile.TemporaryDirectory() as place:
        for name in [name for name in names if options.artificial or name in GROUPS]:
            table = load(name)
            tasks = artificial(table, options) if options.artificial else natural(table, options)
            for title, training, sample in tasks:
                rows = answered(Path(place), training, sample)
                found += [{"table": name, "task": f"{name}: {title}", **row} for row in rows]
                print(f"{name}: {title}, {len(rows)} samples", file=sys.stderr)
    frame = pl.DataFrame(found, infer_schema_length=None)
    if options.csv:
        frame.write_csv(options.csv)
    report(frame)


def natural(
    table: LabelledTable, options: argparse.Namespace
) -> Iterator[tuple[str, pl.DataFrame, pl.DataFrame]]:
    """Training rows and samples, in batches, of every task of a table."""
    whole = labelled(table)
    for column in GROUPS[table.name]:
        groups = whole.filter(pl.col(column).is_not_null())
        sizes = groups.group_by(column).agg(pl.len(), pl.col(LABEL).sum().alias("n")).sort("len")
        fit = sizes.filter(
            (pl.col("len") >= SMALLEST_TRAINING)
            & (pl.min_horizontal("n", pl.col("len") - pl.col("n")) >= SMALLEST_CLASS)
        )
        large = set(sizes.filter(pl.col("len") >= SMALLEST)[column])
        ends = options.first_group, options.first_group + options.training_groups
        for group in fit[column].reverse().to_list()[slice(*ends)]:
            training = groups.filter(pl.col(column) == group)
            rng = generator(0, purpose="natural", table=table.name, column=column, group=str(group))
            kept = rng.permutation(len(training))[: options.most_rows]
            sample = groups.filter(pl.col(column).is_in(list(large - {group})))
            sample = sample.with_columns(pl.col(column).cast(pl.String).alias(BATCH)).drop(column)
            if len(sample):
                yield f"{column} = {group}", training[kept].drop(column), sample


def artificial(
    table: LabelledTable, options: argparse.Namespace
) -> Iterator[tuple[str, pl.DataFrame, pl.DataFrame]]:
    """Random training rows, and samples of the others at random prevalences."""
    whole = labelled(table)
    for repeat in range(options.first_group, options.first_group + options.training_groups):
        rng = generator(repeat, purpose="artificial", table=table.name)
        order = rng.permutation(len(whole))
        n_train = min(options.most_rows, len(whole) // 2)
        training, others = whole[order[:n_train]], whole[order[n_train:]]
        y = others[LABEL].to_numpy() == 1
        parts = []
        for number, size in enumerate(SIZES * 5):
            n_yes = int(rng.binomial(size, rng.uniform()))
            rows = [
                rng.choice(np.flatnonzero(y), n_yes),
                rng.choice(np.flatnonzero(~y), size - n_yes),
            ]
            part = others[np.concatenate(rows)]
            parts.append(part.with_columns(pl.lit(f"{number} of {size}").alias(BATCH)))
        yield f"repeat {repeat}", training, pl.concat(parts)


def labelled(table: LabelledTable) -> pl.DataFrame:
    """The features, with the label as 0 and 1."""
    return pl.DataFrame(table.columns).with_columns(pl.Series(LABEL, table.codes))


def answered(place: Path, training: pl.DataFrame, sample: pl.DataFrame) -> list[dict[str, Any]]:
    """The errors of the command's estimates of every batch."""
    training.write_csv(place / "train.csv")
    sample.drop(LABEL).write_csv(place / "new.csv")
    output = io.StringIO()
    sys.argv = [
        *("quantshift", "quantify", "--train", str(place / "train.csv"), "--json"),
        *("--sample", str(place / "new.csv"), "--label", LABEL, "--by", BATCH),
        *("--replicates", "200"),
    ]
    with (
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.suppress(SystemExit),  # exit code 4 says that a batch cannot be estimated
    ):
        quantshift()
    truth = dict(sample.group_by(BATCH).agg(pl.col(LABEL).mean()).iter_rows())
    sizes = dict(sample.group_by(BATCH).len().iter_rows())
    p_train = float(training[LABEL].mean())  # type: ignore[arg-type]
    rows = []
    for batch in json.loads(output.getvalue())["batches"]:
        share = next(s for s in batch["shares"] if s["label"] == "1")
        p = truth[batch["name"]]
        readings = {a["assumption"]: a["prevalence"]["1"] for a in batch["alternatives"]}
        kind = (batch["shift"] or {}).get("kind")
        # After a refutation prior shift is SubclassSLD's; otherwise its number is the one shown.
        by_subclasses = readings[Assumption.PRIOR] if kind in REFUTED else share["estimate"]
        rows.append(
            {
                "batch": batch["name"],
                "size": sizes[batch["name"]],
                "shown": None if share["estimate"] is None else abs(share["estimate"] - p),
                "covariate": _error(readings, Assumption.COVARIATE, p),
                "prior": _error(readings, Assumption.PRIOR, p),
                "subclasses": None if by_subclasses is None else abs(by_subclasses - p),
                "nothing": abs(p_train - p),
                "covered": share["low"] <= p <= share["high"],
                "width": share["high"] - share["low"],
                "unexplained": kind == Explanation.UNEXPLAINED,
                "in doubt": kind == Explanation.IN_DOUBT,
                "explained": (batch["shift"] or {}).get("explained"),
                "unknown": share["estimate"] is None,
            }
        )
    return rows


def _error(readings: dict[str, float], name: str, p: float) -> float | None:
    return abs(readings[name] - p) if name in readings else None


def report(frame: pl.DataFrame) -> None:
    """Means over tasks, with standard errors."""
    columns = [
        *("shown", "covariate", "prior", "subclasses", "nothing"),
        *("covered", "width", "unexplained", "in doubt", "explained", "unknown"),
    ]
    tasks = frame.group_by("task", maintain_order=True).agg(pl.col(columns).cast(pl.Float64).mean())
    print(f"{len(tasks)} tasks, {len(frame)} samples")
    for name in columns:
        values = tasks[name].drop_nulls()
        if not len(values):  # "explained" exists only for unexplained batches
            continue
        error = (values.std() or 0.0) / max(len(values), 1) ** 0.5  # type: ignore[operator]
        print(f"  {name:12} {values.mean():.4f} +- {error:.4f}")
    print(f"  smallest width  {frame['width'].min():.3f}")
    report_shown(frame.filter(pl.col("shown").is_not_null()))


def report_shown(frame: pl.DataFrame) -> None:
    """The errors of the samples that have an estimate, and how they compare."""
    errors = pl.col("shown", "covariate", "nothing")
    tasks, tables = (frame.group_by(name).agg(errors.mean()) for name in ("task", "table"))
    print(f"{len(frame)} samples with an estimate, of {len(tasks)} tasks and {len(tables)} tables")
    for kind, means in (("tasks", tasks), ("tables", tables)):
        print(
            f"  means over {kind}: " + ", ".join(f"{c.name} {c.mean():.4f}" for c in means[:, 1:])
        )
    change = tasks["shown"] - tasks["covariate"]
    error = (change.std() or 0.0) / len(change) ** 0.5  # type: ignore[operator]
    print(f"  shown - covariate {change.mean():.4f} +- {error:.4f}")


if __name__ == "__main__":
    main()
