"""Tables of verdicts that the tests share."""

import numpy as np
import polars as pl

from quantshift.judging.items.judged_items import JudgedItems
from quantshift.judging.items.meaning import Meaning


def verdicts(n=400, *, share=0.7, sensitivity=0.95, specificity=0.75, seed=0):
    """A judge's verdicts, the truth, a score, and a system that answered each item."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    said = np.where(truth, rng.random(n) < sensitivity, rng.random(n) >= specificity)
    return pl.DataFrame(
        {
            "id": [f"q{i}" for i in range(n)],
            "judge": np.where(said, "pass", "fail"),
            "score": np.clip(rng.normal(0.3 + 0.4 * truth, 0.2), 0, 1).round(6),
            "system": np.where(np.arange(n) % 2, "A", "B"),
            "truth": np.where(truth, "pass", "fail"),
        }
    )


def labelled(table, rows, column="human"):
    """The table with labels in some rows, and without the truth."""
    known = np.zeros(len(table), dtype=bool)
    known[rows] = True
    return table.with_columns(pl.when(pl.Series(known)).then(pl.col("truth")).alias(column)).drop(
        "truth"
    )


def drawn(table, k=80, seed=1):
    """The same with labels of random rows."""
    return labelled(table, np.random.default_rng(seed).choice(len(table), k, replace=False))


def halves(table, column, k=25, seed=2):
    """The same with labels of as many rows of each value of a column."""
    rng = np.random.default_rng(seed)
    values = table[column].to_numpy()
    rows = [rng.choice(np.flatnonzero(values == v), k, replace=False) for v in np.unique(values)]
    return labelled(table, np.concatenate(rows))


def coded(verdicts, labels, n_classes=2, *, says=None, ordered=False, **given):
    """Items from codes of verdicts and labels."""
    n_judges = 1 if verdicts is None or np.ndim(verdicts) == 1 else np.shape(verdicts)[1]
    meaning = Meaning.of_codes(n_classes, n_judges=n_judges, says=says, ordered=ordered)
    return JudgedItems.of(verdicts, labels, meaning, **given)
