"""Small tables whose items have any of three labels."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from quantshift.answers.shares import Share
from quantshift.answers.targets.answer import TargetAnswers
from quantshift.quantifying.output.quantification import Quantification
from quantshift.quantifying.result import Batch
from tests.claims.made import RANGED
from tests.quantifying.made import BATCH, FOUND, UNKNOWN, Made

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


def _alone(target: str, training: float, *batches: Batch) -> Quantification:
    classes = (f"not {target}", target)
    side = replace(FOUND.training, prevalence={classes[0]: 1 - training, target: training})
    names = dict.fromkeys(classes, target)
    return replace(
        FOUND, classes=classes, headline=target, names=names, training=side, batches=batches
    )


def _shares(target: str, share: tuple[float | None, float, float]) -> tuple[Share, Share]:
    own = Share(target, *share)
    return own.complement(f"not {target}"), own


def made(*, n_batches: int = 2) -> TargetAnswers[Quantification]:
    """Three targets in batches named w1, w2 ..., made by hand; in the last, 'hate' is unknown.

    Limits for all of them are .02 further away.
    """
    names = [f"w{i + 1}" for i in range(n_batches)]
    plain = replace(BATCH, shift=None, findings=(Made.DO.found(),), change=())
    unknown = replace(UNKNOWN, findings=(Made.DO.found(),))
    answers, for_all = {}, {}
    for target, training, own, changes in (
        ("spam", 0.3, (0.6, 0.5, 0.7), {"shift": BATCH.shift}),
        ("abuse", 0.2, (0.25, 0.2, 0.3), {"grounds": RANGED, "change": ("abuse",)}),
        ("hate", 0.1, (0.11, 0.1, 0.2), {}),
    ):
        batches = []
        for i, name in enumerate(names):
            sizes = {"name": name, "n_items": 100 * (i + 1), "left_out": i}
            if target == "hate" and name == names[-1]:
                shares = _shares(target, (None, 0.0, 1.0))
                batches.append(replace(unknown, shares=shares, verdict=f"V {name}", **sizes))
                continue
            batches.append(replace(plain, shares=_shares(target, own), **sizes, **changes))
        answers[target] = _alone(target, training, *batches)
        limits = [batch.shares[1] for batch in batches]
        for_all[target] = [
            (max(share.low - 0.02, 0.0), min(share.high + 0.02, 1.0)) for share in limits
        ]
    return TargetAnswers.of(answers, for_all, 0.983, [Made.ODD.found()])
