"""Several labels in `quantify`: how often limits hold, and how far estimates are off.

    python benchmarks/label_evidence.py [--tables emotions,birds,medical] [--size 100] [--seed 0]
        [--points 6] [--selected 24] [--natural 18] [--csv FILE]

Samples of test items of Mulan's sets (`parts/mulan_sets.py`), a batch each, go through `quantify`
with the classifier `logistic`. Three kinds:

    label     the share of one label at a time, from 0 to 1, all others following (published
              protocol; --points shares of each label)
    selected  items kept by a score of a label or by a direction of the features, which changes the
              mix of items and not how often those that look alike have a label
    natural   items at random

Errors are absolute. Standard errors of coverage are over samples, whose labels depend on each
other. `together` are answers by the joint model of the labels; the rest are those of each label on
its own. An answer that "cannot be estimated" has limits, too, and no estimate.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import polars as pl
from scipy.sparse import issparse
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from parts.mulan_sets import load
from quantshift import quantify
from quantshift.base.seeding import generator
from quantshift.base.types import Flags, Indices, Reals
from quantshift.claims import Assumption
from quantshift.multilabel import natural_samples, samples_of_each_label
from quantshift.multilabel.label_tables import LabelTable
from quantshift.multilabel.tilted_label_sets import TiltedLabelSets

FEWEST = 5
"""Labels of fewer training items are left out, as `quantify` would refuse them."""

SLOPES, PLACES, KEPT = (1.5, 3.0, 5.0), (0.3, 0.5, 0.7), 0.1
"""Of selections: exponential ones by rank, and steps at a rank below or above which few remain."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", default="emotions,birds,medical")
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--points", type=int, default=6)
    parser.add_argument("--selected", type=int, default=24)
    parser.add_argument("--natural", type=int, default=18)
    parser.add_argument("--csv", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    with threadpool_limits(1):
        for name in arguments.tables.split(","):
            found.append(answers(name, arguments))
            print(summary(found[-1]), flush=True)
            if arguments.csv is not None:
                pl.concat(found).write_csv(arguments.csv)
    if len(found) > 1:
        print(summary(pl.concat(found).with_columns(set=pl.lit("all"))))


def answers(name: str, arguments: argparse.Namespace) -> pl.DataFrame:
    """A row for each sample and label."""
    problem = load(name)
    counts = problem.labels.has.sum(axis=0)
    chosen = np.minimum(counts, len(problem.labels) - counts) >= FEWEST
    has, has_test = problem.labels.has[:, chosen], problem.labels_test.has[:, chosen]
    names = [f"label{j}" for j in range(has.shape[1])]
    X, X_test = (
        np.asarray(part.toarray() if issparse(part) else part, dtype=np.float64)
        for part in (problem.X, problem.X_test)
    )
    seed, size = arguments.seed, arguments.size
    table = LabelTable(has_test, np.array(names))
    kinds = {
        "label": samples_of_each_label(table, size, arguments.points, 1, random_state=seed),
        "selected": selected(X, has, X_test, size, arguments.selected, seed),
        "natural": natural_samples(len(X_test), size, arguments.natural, random_state=seed),
    }
    train = pl.DataFrame(X, schema=[f"x{k}" for k in range(X.shape[1])], orient="row")
    train = train.with_columns(pl.DataFrame(has.astype(int), schema=names, orient="row"))
    index = {f"{kind} {i}": rows for kind, part in kinds.items() for i, rows in enumerate(part)}
    sample = pl.DataFrame(
        X_test[np.concatenate(list(index.values()))],
        schema=[f"x{k}" for k in range(X.shape[1])],
        orient="row",
    ).with_columns(batch=pl.Series(np.repeat(list(index), size)))
    result = quantify(
        sample,
        train=train,
        label=names,
        by="batch",
        classifier="logistic",
        replicates=300,
        seed=seed,
    )
    rows = []
    for batch in result.batches:
        truth = has_test[index[batch.name]].mean(axis=0)
        for answer in batch.labels:
            own = result.answers[answer.label].batches
            (about,) = (each for each in own if each.name == batch.name)
            rows.append(
                {
                    "set": name,
                    "samples": batch.name.partition(" ")[0],
                    "batch": batch.name,
                    "kind": answer.kind,
                    "reason": answer.reason,
                    "together": answer.method == TiltedLabelSets.__name__,
                    "truth": truth[names.index(answer.label)],
                    "estimate": answer.estimate,
                    "low": answer.low,
                    "high": answer.high,
                    "mean posterior": _under(Assumption.COVARIATE, about, answer.label),
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None)


def _under(assumption: Assumption, batch: object, label: str) -> float | None:
    found = [a.prevalence[label] for a in batch.alternatives if a.assumption is assumption]  # type: ignore[attr-defined]
    return found[0] if found else None


def selected(X: Reals, has: Flags, X_test: Reals, size: int, n: int, seed: int) -> Indices:
    """Samples of test items, each kept by a score or by a direction of the features."""
    centre, scale = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-9)
    known, new = (X - centre) / scale, (X_test - centre) / scale
    samples = []
    for number in range(n):
        rng = generator(seed, draw="selected items", number=number)
        if number % 3 == 0:
            scores = new @ rng.standard_normal(new.shape[1])
        else:
            label = has[:, rng.integers(has.shape[1])]
            model = LogisticRegression(C=0.01, max_iter=1000).fit(known, label)
            scores = model.decision_function(new)
        rank = rankdata(scores) / len(scores)
        slope = rng.choice([-1, 1]) * rng.choice(SLOPES)
        weights = np.exp(slope * rank)
        if number % 3 == 2:
            weights = np.where((rank > rng.choice(PLACES)) == (slope > 0), 1.0, KEPT)
        repeated = size > len(scores) / 3
        samples.append(rng.choice(len(scores), size, repeated, weights / weights.sum()))
    return np.array(samples)


def summary(found: pl.DataFrame) -> str:
    """Coverage, widths and errors by kind of sample and kind of answer."""
    within = (pl.col("low") - 1e-9 <= pl.col("truth")) & (pl.col("truth") <= pl.col("high") + 1e-9)
    table = found.with_columns(
        holds=within,
        width=pl.col("high") - pl.col("low"),
        error=(pl.col("estimate") - pl.col("truth")).abs(),
        pcc=(pl.col("mean posterior") - pl.col("truth")).abs(),
        answer=pl.when("together").then(pl.lit("together: ")).otherwise(pl.lit("alone: "))
        + pl.col("kind"),
    )
    parts = [
        table,
        table.with_columns(answer=pl.lit("every ") + pl.col("kind")),
        table.with_columns(answer=pl.lit("every answer")),
    ]
    lines = []
    totals = table.group_by("set", "samples").len("total")
    for part in parts:
        by_batch = part.group_by("set", "samples", "answer", "batch").agg(
            pl.col("holds").mean().alias("mean"), pl.len().alias("n")
        )
        errors = by_batch.group_by("set", "samples", "answer").agg(
            (
                (
                    (pl.col("mean") - (pl.col("mean") * pl.col("n")).sum() / pl.col("n").sum())
                    * pl.col("n")
                )
                .pow(2)
                .sum()
                .sqrt()
                / pl.col("n").sum()
            ).alias("se")
        )
        lines.append(
            part.group_by("set", "samples", "answer")
            .agg(pl.len(), *(pl.col(c).mean() for c in ("holds", "width", "error", "pcc")))
            .join(errors, on=["set", "samples", "answer"])
            .join(totals, on=["set", "samples"])
            .with_columns(share=pl.col("len") / pl.col("total"))
        )
    shown = pl.concat(lines).sort("set", "samples", "answer")
    shown = shown.select(
        "set", "samples", "answer", "share", "holds", "se", "width", "error", "pcc"
    )
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        float_precision=3,
        fmt_str_lengths=40,
        tbl_width_chars=120,
    ):
        return str(shown)


if __name__ == "__main__":
    main()
