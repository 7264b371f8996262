"""Labels, posteriors and weights of training items, checked together."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Codes
from quantshift.classify.posteriors import check_posteriors
from quantshift.errors import DataError
from quantshift.items.items import Items
from quantshift.prevalence.labels import encode_labels
from quantshift.prevalence.weights import Weights, checked_weights


def labelled_posteriors(
    posteriors: ArrayLike, y: Any, classes: Any, weights: ArrayLike | None
) -> Items:
    """Labelled items with their posteriors; an error if these do not fit the labels."""
    class_labels, codes = at_least_two_classes(*encode_labels(y, classes=classes))
    if hasattr(posteriors, "columns"):
        posteriors = check_posteriors(posteriors, class_labels)
    p = np.asarray(posteriors, dtype=np.float64)
    if p.ndim < 2:
        check_posteriors(p, len(class_labels))
    if p.ndim != 2 or len(p) != len(codes):
        raise DataError(
            f"posteriors of shape {p.shape} do not fit {len(codes)} labels: "
            "give one row per labelled item"
        )
    if classes is None and 1 < p.shape[1] != len(class_labels):
        more = ", ..." if len(class_labels) > 10 else ""
        listed = ", ".join(map(repr, class_labels.tolist()[:10])) + more
        raise DataError(
            f"posteriors have {p.shape[1]} columns but the labels have {len(class_labels)} classes "
            f"({listed}): give one column per class, in sorted order or that of `classes`, and "
            "none for a class without labels"
        )
    return Items(p, weights=training_weights(weights, codes, class_labels))


def at_least_two_classes(classes: NDArray[Any], codes: Codes) -> tuple[NDArray[Any], Codes]:
    """Classes and codes; an error if there is only one class, or one without items."""
    if len(classes) < 2:
        raise DataError(
            f"all training labels are {classes.tolist()[0]!r} (one class): a quantifier needs "
            "items of at least two classes"
        )
    counts = np.bincount(codes, minlength=len(classes))
    if not counts.all():
        raise DataError(
            f"class {classes.tolist()[int(np.argmin(counts))]!r} has no training item: add some, "
            "or leave it out of the classes (and its column out of the posteriors)"
        )
    return classes, codes


def training_weights(
    weights: ArrayLike | None, codes: Codes, classes: NDArray[Any]
) -> Weights | None:
    """Weights of training items, some of them positive in every class; None: all are one."""
    return checked_weights(weights, len(codes), codes, len(classes), classes=classes)


def check_sorted(declared: NDArray[Any] | None, classes: NDArray[Any]) -> None:
    """Refuse labels whose column declares another order than the sorted one."""
    if declared is not None and declared.tolist() != classes.tolist():
        order = ", ".join(map(str, declared.tolist()))
        raise DataError(
            f"the labels are ordered {order}, which is not sorted; give `classes` with the label "
            "of each column of the posteriors, in this order"
        )
