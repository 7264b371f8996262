"""What is too good to be true, or strange, about a training table: sentences for people."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
from sklearn.base import clone

from quantshift.classify.folds import stratified_folds
from quantshift.data.columns import TEXT
from quantshift.data.preparation import TablePreparation
from quantshift.seeding import generator
from quantshift.types import Codes, Indices, Posteriors

TOO_GOOD = 0.9995
"""An accuracy on unseen rows that is shown as 100.0%."""

GIVEN_AWAY, LEFT_TO_LEARN = 0.98, 0.2
"""A column gives the label away if it alone is right so often, with at most this part of the errors
that always naming the largest class makes."""

MOST_EASY = 0.5
"""If more of the columns than this do so, the classes are just easy to separate."""

TRIED_ROWS, TRIED_FOLDS, LEAVES = 2_000, 3, 32
"""Rows, folds and size of the trees by which single columns are tried."""


def doubts_about_labels(forms: Iterable[str]) -> Iterator[str]:
    """Labels, as they stand in the table, that differ in case or outer blanks only."""
    cells = sorted(forms)
    spaced, cased = defaultdict(list), defaultdict(set)
    for cell in cells:
        spaced[cell.strip()].append(cell)
        cased[cell.strip().casefold()].add(cell.strip())
    for name, forms in spaced.items():
        if len(forms) > 1:
            told = " and ".join(map(repr, forms[:3]))
            yield f"the labels {told} differ in blanks only: they are taken as one class, {name!r}"
    for same in cased.values():
        if len(same) > 1:
            told = " and ".join(map(repr, sorted(same)[:5]))
            yield f"the classes {told} differ in case only; if they are one class, write them alike"


def doubt_about_accuracy(accuracy: float) -> Iterator[str]:
    """An accuracy that is too high to be real."""
    if accuracy >= TOO_GOOD:
        yield (
            "the cross-validated accuracy of the classifier is 100.0%, which is too good to be "
            "true: is the label hidden in a column, or are there copies of rows?"
        )


def doubt_about_posteriors(posteriors: Posteriors, codes: Codes) -> Iterator[str]:
    """Posteriors that are all 0 or 1."""
    if not np.isin(posteriors, (0.0, 1.0)).all():
        return
    if (posteriors.argmax(axis=1) == codes).all():
        yield (
            "all posteriors are 0 or 1, and all of them right: are they of rows that your model "
            "was trained on? Give posteriors of rows it has not seen"
        )
    else:
        yield (
            "all posteriors are 0 or 1, as hard verdicts are: if your model gives probabilities, "
            "give those"
        )


def doubts_about_columns(
    matrix: object, preparation: TablePreparation, codes: Codes, *, seed: int
) -> Iterator[str]:
    """Columns that alone give the label away, beside others that do not."""
    columns = [i for i, column in enumerate(preparation.columns) if column.kind != TEXT]
    if len(preparation.columns) < 2:
        return
    rng = generator(seed, purpose="rows to try single columns on")
    rows = np.sort(rng.permutation(len(codes))[:TRIED_ROWS])
    own = np.unique(codes[rows], return_inverse=True)[1]
    counts = np.bincount(own)
    if len(counts) < 2 or counts.min() < TRIED_FOLDS:
        return
    folds = stratified_folds(own, TRIED_FOLDS, seed=seed)
    most_errors = min(1 - GIVEN_AWAY, LEFT_TO_LEARN * (1 - counts.max() / len(own)))
    X, sources = matrix[rows], preparation.sources  # type: ignore[index]
    telling = []
    for i in columns:
        part = X[:, np.flatnonzero(sources == i)]
        if part.shape[1] and _errors(part, own, folds, seed) <= most_errors:
            telling.append(preparation.columns[i].name)
    if not telling or len(telling) > max(1, MOST_EASY * len(preparation.columns)):
        return
    for name in telling:
        yield (
            f"column {name!r} alone gives the label away; if it is known only after the label, or "
            "made from it, drop it"
        )


def _errors(X: object, codes: Codes, folds: Indices, seed: int) -> float:
    """The share of items that a small tree gets wrong when it has not seen them."""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(
        max_leaf_nodes=LEAVES + 2 * len(np.unique(codes)), min_samples_leaf=2, random_state=seed
    )
    wrong = 0
    for fold in range(int(folds.max()) + 1):
        rest, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        fitted = clone(tree).fit(X[rest], codes[rest])  # type: ignore[index]
        wrong += int((fitted.predict(X[held]) != codes[held]).sum())  # type: ignore[index]
    return wrong / len(codes)
