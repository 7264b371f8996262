"""A class that training has never seen: what `quantify` says about samples that contain it.

    python benchmarks/unseen_classes.py [--tables uci_image_seg,...] [--share 0.2] [--size 500]
        [--first-repeat 0] [--repeats 2]

Each class of a UCI table is left out in turn. The classifier is trained on half of the rows of the
other classes; a sample of the other half has --share items of the class that was left out, and a
second sample has none. Printed for each table: how often the answer says that items are like those
of no class ("none of these"), which share of the items it names, how often label shift is refuted,
how often the answer is a range or none at all, and how often it is a confidence interval without
such a word, which is the silent error; then the same of the samples without a new class. `AUC` is
that of a classifier which knows the labels, for the new class against the others: a class that is
hard to distinguish with labels cannot be found without them.
"""

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from threadpoolctl import threadpool_limits

from parts.real_tables import LabelledTable, load, preparation
from quantshift import quantify
from quantshift.base.seeding import generator
from quantshift.claims import Kind

TABLES = "uci_image_seg,uci_page_block,uci_yeast,uci_abalone,uci_waveform-v1"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", default=TABLES)
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--size", type=int, default=500)
    parser.add_argument("--first-repeat", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    with threadpool_limits(1):
        for name in options.tables.split(","):
            table = load(name, binary=False)
            rows += answers(table, options)
            print(summary(pd.DataFrame(rows).query("table == @name")), flush=True)
    print(summary(pd.DataFrame(rows).assign(table="all")))


def answers(table: LabelledTable, options: Any) -> Iterator[dict[str, Any]]:
    """A row for each class that is left out, each repetition, with and without the class."""
    X = np.asarray(preparation().fit_transform(table.columns))  # type: ignore[attr-defined]
    for unseen in np.unique(table.codes):
        is_unseen = table.codes == unseen
        auc = _separability(X, is_unseen)
        for repeat in range(options.first_repeat, options.first_repeat + options.repeats):
            rng = generator(
                0, purpose="unseen classes", table=table.name, unseen=int(unseen), repeat=repeat
            )
            seen = rng.permutation(np.flatnonzero(~is_unseen))
            train, rest = np.array_split(seen, 2)
            new = rng.permutation(np.flatnonzero(is_unseen))
            for share in (options.share, 0.0):
                size = int(min(options.size, len(rest) / (1 - share), len(new) / max(share, 1e-9)))
                n_new = round(share * size)
                sample = np.concatenate([new[:n_new], rest[: size - n_new]])
                yield {
                    "table": table.name,
                    "contains": share > 0,
                    "auc": auc,
                    **answered(table, train, sample, repeat),
                }


def _separability(X: Any, is_unseen: Any) -> float:
    model = HistGradientBoostingClassifier(max_iter=60, random_state=0)
    scores = cross_val_predict(model, X, is_unseen, cv=3, method="predict_proba")[:, 1]
    return float(roc_auc_score(is_unseen, scores))


def answered(table: LabelledTable, train: Any, sample: Any, seed: int) -> dict[str, Any]:
    """What the answer about one sample says."""
    columns = pl.from_pandas(table.columns)
    labelled = columns[train].with_columns(label=pl.Series(table.codes[train]).cast(pl.String))
    result = quantify(
        columns[sample],
        train=labelled,
        label="label",
        classifier="logistic",
        replicates=60,
        seed=seed,
    )
    (batch,) = result.batches
    is_interval = batch.can_be_estimated and batch.kind == Kind.INTERVAL
    named = batch.none_of_these
    return {
        "told": named is not None,
        "named": 0.0 if named is None else named,
        "refuted": bool(batch.shift and batch.shift.rejected),
        "interval": is_interval,
        "silent": is_interval and named is None,
    }


def summary(rows: pd.DataFrame) -> str:
    """Rates with standard errors over samples."""
    lines = [
        f"{rows['table'].iloc[0]}: AUC of the new class {rows['auc'].min():.2f} to "
        f"{rows['auc'].max():.2f}"
    ]
    for contains, part in rows.groupby("contains", sort=False):
        cells = []
        for name, key in (
            ("none of these", "told"),
            ("refuted", "refuted"),
            ("interval", "interval"),
            ("interval without a word", "silent"),
        ):
            p = part[key].mean()
            error = np.sqrt(p * (1 - p) / len(part))
            cells.append(f"{name} {p:.2f} ±{error:.2f}")
        named = part.loc[part["told"], "named"]
        mean = f", names {named.mean():.2f} of the items" if len(named) else ""
        what = "with a new class" if contains else "without one"
        lines.append(f"  {what:16} {len(part):3} samples: {'; '.join(cells)}{mean}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
