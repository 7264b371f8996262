"""Small tables whose items have any of three labels."""

from collections.abc import Sequence

import numpy as np
import polars as pl

LABELS = ("spam", "abuse", "hate")
QUICK = {"classifier": "logistic", "replicates": 100}
"""Options under which a call takes a second or two."""


def labelled(n: int, seed: int, *, spam: float = 0.3) -> pl.DataFrame:
    """Items with numbers that tell of their labels; hate is within abuse, which comes with spam."""
    rng = np.random.default_rng(seed)
    has_spam = rng.random(n) < spam
    has_abuse = rng.random(n) < np.where(has_spam, 0.4, 0.2)
    has_hate = has_abuse & (rng.random(n) < 0.5)
    x = rng.normal(size=(n, 3)) + 2.0 * np.column_stack([has_spam, has_abuse, has_hate])
    columns = {f"x{j}": x[:, j].round(4) for j in range(3)}
    columns |= {"month": np.array(["2026-01", "2026-02"])[rng.integers(0, 2, n)]}
    truths = zip(LABELS, (has_spam, has_abuse, has_hate), strict=True)
    return pl.DataFrame(columns | {name: has.astype(np.int64) for name, has in truths})


def with_tags(frame: pl.DataFrame, separator: str = "; ") -> pl.DataFrame:
    """The same items with their labels in one column."""
    tags = [
        separator.join(name for name in LABELS if row[name]) for row in frame.iter_rows(named=True)
    ]
    return frame.drop(LABELS).with_columns(pl.Series("tags", tags))


def unlabelled(frame: pl.DataFrame, drop: Sequence[str] = ()) -> pl.DataFrame:
    """The same items without labels."""
    return frame.drop(*LABELS, *drop)
