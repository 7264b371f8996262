"""Small tables whose items have any of three labels."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from quantshift.answers.shares import Share
from quantshift.claims import Reason
from quantshift.quantifying.labels.label_quantification import LabelQuantification
from quantshift.quantifying.labels.label_result import LabelAnswer, LabelBatch
from quantshift.quantifying.output.quantification import Quantification
from tests.claims.made import GROUNDS, RANGED
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


def label_answer(
    label: str, estimate: float | None, low: float, high: float, training: float, **changed
) -> LabelAnswer:
    """The answer to a label, whose limits for all labels are .02 further away."""
    fields = {
        "either": (),
        "low_for_all": max(low - 0.02, 0.0),
        "high_for_all": min(high + 0.02, 1.0),
        "change": None if estimate is None else estimate - training,
        "method": "SLD",
        "grounds": GROUNDS[Reason.UNINFORMATIVE if estimate is None else Reason.EVIDENCE],
        "shift": False,
        "p_value": 0.5,
        "changed": False,
        "cut": False,
    }
    return LabelAnswer(label, estimate, low, high, training=training, **fields | changed)


def _alone(label: str, *batches) -> Quantification:
    classes = (f"not {label}", label)
    return replace(
        FOUND, classes=classes, headline=label, names=dict.fromkeys(classes, label), batches=batches
    )


def made(*, n_batches: int = 2) -> LabelQuantification:
    """Three labels in batches named w1, w2 ..., made by hand; in the last, 'hate' is unknown."""
    spam = label_answer("spam", 0.6, 0.5, 0.7, 0.3, shift=True, cut=True)
    abuse = label_answer(
        "abuse", 0.25, 0.2, 0.3, 0.2, grounds=RANGED, method="Tilted", changed=True
    )
    hate = label_answer("hate", None, 0.0, 1.0, 0.1, shift=None)
    seen = label_answer("hate", 0.11, 0.1, 0.2, 0.1)
    names = [f"w{i + 1}" for i in range(n_batches)]
    batches = [
        LabelBatch(name, 100 * (i + 1), i, (spam, abuse, hate if name == names[-1] else seen))
        for i, name in enumerate(names)
    ]
    share = (Share("not", 0.4, 0.3, 0.5), Share("is", 0.6, 0.5, 0.7))
    plain = replace(BATCH, shift=None, shares=share, findings=(Made.DO.found(),), change=())
    own = {
        "spam": [replace(plain, name=name, shift=BATCH.shift) for name in names],
        "abuse": [replace(plain, name=name, grounds=RANGED, change=("abuse",)) for name in names],
        "hate": [
            replace(UNKNOWN if name == names[-1] else plain, name=name, verdict=f"V {name}")
            for name in names
        ],
    }
    return LabelQuantification(
        labels=LABELS,
        level=0.95,
        level_for_all=0.983,
        batches=tuple(batches),
        parents={"hate": "abuse", "spam": "all"},
        left_out_labels=(),
        findings=(Made.ODD.found(),),
        answers={label: _alone(label, *batches_) for label, batches_ in own.items()},
    )
