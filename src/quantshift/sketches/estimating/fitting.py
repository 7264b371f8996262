"""The model that a sketch is quantified with: from counts of labelled items, or a saved one."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from quantshift.answers.rows import NO_LABEL, NOT_DRAWN, Rows
from quantshift.base.seeding import generator
from quantshift.base.types import Codes
from quantshift.errors import DataError, UserError
from quantshift.quantifiers.base.estimator import AbstractClassifying, AbstractQuantifier
from quantshift.quantifying.options import AUTO, ColumnOptions
from quantshift.quantifying.training.methods import (
    IF_PRIOR_SHIFT,
    POSTERIORS,
    method_class,
    name_of,
    reason_for,
)
from quantshift.quantifying.training.model import Model, Training, column_order, posterior_columns
from quantshift.quantifying.training.recipe import given_model
from quantshift.quantifying.training.train import MOST_TRAINING
from quantshift.sketches.about import COUNT, LABEL
from quantshift.sketches.estimating.counts import why_not_from_counts
from quantshift.sketches.sketch_table import Sketch


def check_together(sample: Sketch, training: Sketch) -> None:
    """Refuse a training sketch without labels, or of other scores."""
    if not training.about.labelled:
        raise UserError(
            "the training sketch has no labels: make it with the column of the labels",
            arguments=["train_sketch"],
        )
    if sample.about.classes != training.about.classes:
        raise DataError(
            f"the sample has scores {', '.join(sample.about.classes)}, the training sketch has "
            f"{', '.join(training.about.classes)}: make both from columns of the same names"
        )


def saved_model(source: Model | str | Path, sample: Sketch, method: str) -> Model:
    """A trained model whose scores are those that the sketch has counted."""
    model = given_model(source)
    if model.scorer is not None:
        raise UserError(
            "the model makes its scores from columns, which a sketch does not have: train it on "
            "the column of the scores",
            arguments=["posteriors", "model"],
        )
    _check_posteriors_suffice(type(model.quantifier))
    _check_counts_suffice(model.quantifier)
    if tuple(model.columns.posteriors) != sample.about.classes:
        raise DataError(
            f"the sample has scores {', '.join(sample.about.classes)}, the model was trained on "
            f"{', '.join(model.columns.posteriors)}: make the sketch from columns of these names"
        )
    if name_of(method) not in (AUTO, model.method):
        raise UserError(
            f"the model was trained for {model.method}: omit the method, or train another model",
            arguments=["method"],
        )
    return model


def trained_model(
    training: Sketch, source: str, positive: str | None, method: str, seed: int
) -> Model:
    """A model fitted on the items that a sketch with labels has counted."""
    usable = training.usable().filter(pl.col(LABEL).is_not_null())
    classes = _classes(usable[LABEL], source, training.about.n_classes, positive)
    names = training.about.classes
    order = column_order(names, classes)
    cls: Any = method_class(method, POSTERIORS)
    _check_posteriors_suffice(cls)
    posteriors = training.posteriors_of(usable)[:, order]
    codes = np.array([classes.index(label) for label in usable[LABEL].to_list()])
    counts = usable[COUNT].to_numpy()
    rows, drawn = _training_rows(counts, seed)
    repeated, repeated_codes = posteriors[rows], codes[rows]
    base = IF_PRIOR_SHIFT(random_state=seed).fit_posteriors(
        repeated, repeated_codes, classes=range(len(classes))
    )
    quantifier = base
    if cls is not type(base):
        quantifier = cls().fit_posteriors(repeated, repeated_codes, classes=range(len(classes)))
    _check_counts_suffice(quantifier)
    left_out = dict(training.left_out)
    n_unlabelled = int(training.usable().filter(pl.col(LABEL).is_null())[COUNT].sum())
    if n_unlabelled:
        left_out[NO_LABEL] = n_unlabelled
    if drawn:
        left_out[NOT_DRAWN] = drawn
    options = ColumnOptions(label=training.about.label, posteriors=names, positive=positive)
    return Model(
        columns=posterior_columns(options, ()),
        classes=classes,
        preparation=None,
        scorer=None,
        base=base,
        quantifier=quantifier,
        method=cls.__name__,
        reason=reason_for(method, POSTERIORS),
        method_is_declared=method != AUTO,
        training=Training(
            rows=Rows(source, training.n_rows, len(rows), left_out),
            counts={label: int(counts[codes == code].sum()) for code, label in enumerate(classes)},
            classifier="given scores",
            accuracy=float(np.mean(repeated.argmax(axis=1) == repeated_codes)),
            seed=seed,
        ),
        positive=positive,
    )


def _classes(
    labels: pl.Series, source: str, n_classes: int, positive: str | None
) -> tuple[str, ...]:
    """The classes of the labels, as many as there are scores; the positive one of two is last."""
    classes = tuple(sorted(labels.unique().to_list()))
    if len(classes) < 2:
        raise DataError(f"{source}: labels of at least two classes are needed")
    if len(classes) != n_classes:
        raise DataError(
            f"{source}: {len(classes)} classes ({', '.join(classes[:5])}) but scores of {n_classes}"
        )
    if positive is not None and positive not in classes:
        raise UserError(
            f"there is no class {positive!r}; there are {', '.join(classes)}",
            arguments=["positive"],
        )
    if positive is not None and len(classes) == 2:
        return (*(name for name in classes if name != positive), positive)
    return classes


def _check_posteriors_suffice(method: type[AbstractQuantifier]) -> None:
    if not issubclass(method, AbstractClassifying) or not method.tags.sees_posteriors_only:
        raise UserError(
            f"{method.__name__} looks at more than posteriors: a sketch has nothing else"
        )


def _check_counts_suffice(quantifier: AbstractQuantifier) -> None:
    assert isinstance(quantifier, AbstractClassifying)
    reason = why_not_from_counts(quantifier)
    if reason:
        raise UserError(f"{type(quantifier).__name__} cannot be used with a sketch: {reason}")


def _training_rows(counts: np.ndarray, seed: int) -> tuple[Codes, int]:
    """Each row as often as it was counted, `MOST_TRAINING` in all; and how many are left out."""
    total = int(counts.sum())
    if total > MOST_TRAINING:
        rng = generator(seed, purpose="training sketch")
        counts = rng.multivariate_hypergeometric(counts, MOST_TRAINING, method="marginals")
    return np.repeat(np.arange(len(counts)), counts), max(total - MOST_TRAINING, 0)
