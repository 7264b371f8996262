"""A quantifier that a user gives to a function: what it is, or one line that says what to give."""

import inspect
from typing import Any

from sklearn.pipeline import Pipeline

from quantshift.errors import UserError
from quantshift.quantifiers.base.estimator import AbstractQuantifier

INSIDE = (
    "put the other steps inside the classifier, as in "
    "SLD(make_pipeline(StandardScaler(), LogisticRegression()))"
)
"""What to do with a pipeline that ends in a quantifier."""


def given_quantifier(value: Any, taken_by: str) -> AbstractQuantifier:
    """The quantifier; of a fitted search over quantifiers its best one.

    taken_by: the function or class that takes it, for the message.
    """
    best = getattr(value, "best_estimator_", value)
    if isinstance(best, AbstractQuantifier):
        return best
    refuse_pipeline(value, taken_by)
    if inspect.isclass(value):
        raise UserError(
            f"{taken_by} takes a quantifier, got the class {value.__name__}: write "
            f"{value.__name__}()"
        )
    raise UserError(
        f"{taken_by} takes a quantifier such as PACC(), got {type(value).__name__}; "
        "`quantshift.quantifiers.wrap` makes one of any object with fit(X, y) and predict(X)"
    )


def refuse_pipeline(value: Any, taken_by: str) -> None:
    """Refuse a pipeline whose last step is a quantifier."""
    if ends_in_quantifier(value):
        raise UserError(f"{taken_by} takes a quantifier, not a Pipeline: {INSIDE}")


def ends_in_quantifier(value: Any) -> bool:
    """Whether it is a pipeline whose last step is a quantifier."""
    return isinstance(value, Pipeline) and isinstance(value.steps[-1][1], AbstractQuantifier)
