"""What the judges say about an item as one verdict: cells of several judges, bins of a score.

Each cell stands for a point between the classes, its direction: the share of the judges whose
verdict is each class, or how high the bin is. Directions are given before labels are looked at, so
that labels are free to show what they are worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Codes, Reals
from quantshift.errors import DataError

MOST_BINS = 10
LABELS_PER_BIN = 5
"""Labels of the rarest class in each bin: with fewer labels there are fewer bins."""


@dataclass(frozen=True, eq=False)
class VerdictCells:
    """The cells of the items.

    codes: the cell of every item, (n_items,); external: those of items labelled elsewhere.
    directions: (n_cells, n_classes), rows sum to one; None: to be found from labels.
    """

    codes: Codes
    external: Codes | None
    n: int
    directions: Reals | None


def votes(verdicts: NDArray[np.int64], classes: Codes, n_classes: int) -> Reals:
    """The class of each verdict as a point; a verdict that is not a class is between all."""
    class_codes = classes[verdicts]
    points = np.eye(n_classes)[np.maximum(class_codes, 0)]
    return np.where((class_codes >= 0)[:, np.newaxis], points, 1 / n_classes)


def of_judges(
    verdicts: NDArray[np.int64],
    external: NDArray[np.int64] | None,
    classes: Sequence[Codes],
    n_classes: int,
) -> VerdictCells:
    """One cell for each combination of verdicts, (n_items, n_judges), that was seen."""
    both = verdicts if external is None else np.concatenate([verdicts, external])
    if both.shape[1] == 1 and len(classes[0]) <= n_classes:
        combinations, codes = np.arange(len(classes[0]))[:, np.newaxis], both[:, 0]
    else:
        combinations, codes = np.unique(both, axis=0, return_inverse=True)
    directions = np.mean(
        [
            votes(combinations[:, j], judge_classes, n_classes)
            for j, judge_classes in enumerate(classes)
        ],
        axis=0,
    )
    n = len(verdicts)
    apart = np.linalg.matrix_rank(directions) == n_classes
    return VerdictCells(
        codes.ravel()[:n],
        None if external is None else codes.ravel()[n:],
        len(combinations),
        directions if apart else None,
    )


def of_score(score: Reals, external: Reals | None, labels: Codes, n_classes: int) -> VerdictCells:
    """Bins of a score with about as many items each; with two classes, directed by their order."""
    rarest = int(np.bincount(labels, minlength=n_classes).min()) if len(labels) else 0
    n_bins = int(np.clip(rarest // LABELS_PER_BIN, n_classes, MOST_BINS))
    edges = np.unique(np.quantile(score, np.arange(1, n_bins) / n_bins))
    codes = np.searchsorted(edges, score, side="right")
    n = len(edges) + 1
    height = (np.arange(n) + 0.5) / n
    return VerdictCells(
        codes,
        None if external is None else np.searchsorted(edges, external, side="right"),
        n,
        np.column_stack([1 - height, height]) if n_classes == 2 and n > 1 else None,
    )


def scaled_scores(
    score: ArrayLike, external: ArrayLike | None = None
) -> tuple[Reals, Reals | None]:
    """Scores between 0 and 1 as they are, others as their ranks.

    external: those of items labelled elsewhere, which become what the same scores here become.
    """
    import polars as pl

    s = _finite(score)
    others = None if external is None else _finite(external)
    if s.min() >= 0 and s.max() <= 1:
        return s, others
    ranked = (pl.Series(s).rank().to_numpy() - 0.5) / len(s)
    if others is not None:
        ascending = np.sort(s)
        below, up_to = (np.searchsorted(ascending, others, side=end) for end in ("left", "right"))
        others = (below + up_to) / (2 * len(s))
    return ranked, others


def _finite(score: ArrayLike) -> Reals:
    s = np.asarray(score, dtype=np.float64)
    if not np.isfinite(s).all():
        raise DataError(f"{int((~np.isfinite(s)).sum())} scores are missing or not finite")
    return s


def pooled(labelled: Codes, n: int, at_least: int) -> NDArray[np.int64]:
    """The group of each of n ordered cells; neighbours are joined until each has enough labels.

    labelled: the cells of the labelled items.
    """
    counts = np.bincount(labelled, minlength=n).astype(np.int64)
    group = np.arange(n)
    while len(np.unique(group)) > 1:
        held = np.array([counts[group == g].sum() for g in np.unique(group)])
        if held.min() >= at_least:
            break
        names = np.unique(group)
        least = int(np.argmin(held))
        near = [i for i in (least - 1, least + 1) if 0 <= i < len(names)]
        neighbour = min(near, key=lambda i: held[i])
        group[group == names[least]] = names[neighbour]
    return np.unique(group, return_inverse=True)[1]
