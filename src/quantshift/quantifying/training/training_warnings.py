"""What looks suspicious in a training table, or too good to be true."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from sklearn.base import clone

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices, Posteriors
from quantshift.claims.findings import Finding
from quantshift.classify.folds import stratified_folds
from quantshift.quantifying.findings import TrainingFindings
from quantshift.tables.columns.kinds import NUMBER, TEXT, Column
from quantshift.tables.columns.spelling import odd_labels, respelt_labels
from quantshift.tables.preparation import TablePreparation

TOO_GOOD = 0.9995
"""An accuracy on unseen rows that is shown as 100.0%."""

GIVEN_AWAY, LEFT_TO_LEARN = 0.98, 0.2
"""A column gives the label away if a classifier on this column alone has at least the first
accuracy, and at most the second share of the errors made by always predicting the largest class."""

MOST_EASY = 0.5
"""If a larger share of the columns do so, the classes are simply easy to separate."""

TRIED_ROWS, TRIED_FOLDS, LEAVES = 2_000, 3, 32
"""Rows, folds and size of the trees with which single columns are tested."""


def doubts_about_labels(
    forms: Mapping[str, int], counts: Mapping[str, int], usual: Mapping[str, str]
) -> Iterator[Finding]:
    """Labels that are taken as one class, and labels that look mistyped or mean that there is none.

    forms: how often each label is written in each way; counts: of the labels without surrounding
    blanks; usual: the class of those that are spelt in another way.
    """
    merged = {}
    for form in forms:
        name = usual.get(form.strip(), form.strip())
        if form != name and name in counts:
            merged[form] = name
    yield from respelt_labels(forms, merged)
    classes: Counter[str] = Counter()
    for name, n in counts.items():
        classes[usual.get(name, name)] += n
    yield from odd_labels(classes)


def decimal_commas(columns: Sequence[Column]) -> Iterator[Finding]:
    """Columns of numbers with a decimal comma."""
    names = tuple(column.name for column in columns if column.kind == NUMBER and column.format)
    if names:
        yield TrainingFindings.DECIMAL_COMMAS.found(n=len(names), columns=names)


def doubt_about_accuracy(accuracy: float) -> Iterator[Finding]:
    """An accuracy that is too high to be real."""
    if accuracy >= TOO_GOOD:
        yield TrainingFindings.TOO_ACCURATE.found(accuracy=accuracy)


def doubt_about_posteriors(posteriors: Posteriors, codes: Codes) -> Iterator[Finding]:
    """Posteriors that are all 0 or 1."""
    if not np.isin(posteriors, (0.0, 1.0)).all():
        return
    if (posteriors.argmax(axis=1) == codes).all():
        yield TrainingFindings.PERFECT_POSTERIORS.found()
    else:
        yield TrainingFindings.HARD_POSTERIORS.found()


def doubts_about_columns(
    matrix: object, preparation: TablePreparation, codes: Codes, *, seed: int
) -> Iterator[Finding]:
    """Columns that give the label away on their own, while others do not."""
    columns = [i for i, column in enumerate(preparation.columns) if column.kind != TEXT]
    if len(preparation.columns) < 2:
        return
    rng = generator(seed, purpose="rows to try single columns on")
    rows = np.sort(rng.permutation(len(codes))[:TRIED_ROWS])
    sampled_codes = np.unique(codes[rows], return_inverse=True)[1]
    counts = np.bincount(sampled_codes)
    if len(counts) < 2 or counts.min() < TRIED_FOLDS:
        return
    folds = stratified_folds(sampled_codes, TRIED_FOLDS, seed=seed)
    most_errors = min(1 - GIVEN_AWAY, LEFT_TO_LEARN * (1 - counts.max() / len(sampled_codes)))
    X, sources = matrix[rows], preparation.sources  # type: ignore[index]
    revealing = []
    for i in columns:
        part = X[:, np.flatnonzero(sources == i)]
        if part.shape[1] and _errors(part, sampled_codes, folds, seed) <= most_errors:
            revealing.append(preparation.columns[i].name)
    if not revealing or len(revealing) > max(1, MOST_EASY * len(preparation.columns)):
        return
    for name in revealing:
        yield TrainingFindings.REVEALING_COLUMN.found(column=name)


def _errors(X: object, codes: Codes, folds: Indices, seed: int) -> float:
    """The cross-validated error rate of a small decision tree."""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(
        max_leaf_nodes=LEAVES + 2 * len(np.unique(codes)), min_samples_leaf=2, random_state=seed
    )
    wrong = 0
    for fold in range(int(folds.max()) + 1):
        learnt, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        fitted = clone(tree).fit(X[learnt], codes[learnt])  # type: ignore[index]
        wrong += int((fitted.predict(X[held_out]) != codes[held_out]).sum())  # type: ignore[index]
    return wrong / len(codes)
