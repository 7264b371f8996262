"""Which quantifier a call gets: the one that the user names, or one that `quantify` uses by itself.

These defaults are the only concrete methods that `quantify` and sketches know. Everything else they
decide by what a method declares (`Tags`) or offers (`AbstractClassifying`, `AbstractGuarded`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from quantshift.base.imports import file_and_name, made
from quantshift.errors import UserError
from quantshift.quantifiers.base.estimator import AbstractClassifying, AbstractQuantifier
from quantshift.quantifiers.base.foreign import ON_FEATURES, ON_POSTERIORS, replaces
from quantshift.quantifiers.base.guarding import AbstractGuarded
from quantshift.quantifiers.counting.adjusted import PACC
from quantshift.quantifiers.counting.counting import CC, PCC
from quantshift.quantifiers.likelihood.guarded_sld import GuardedSLD
from quantshift.quantifiers.likelihood.sld import SLD
from quantshift.quantifying.options import AUTO

FEATURES, POSTERIORS = "features", "posteriors"
"""What is known of items: columns of features, or posteriors of the user's own model."""


@dataclass(frozen=True)
class Default:
    """A method that is used unless another is named, and why, in words."""

    method: type[AbstractQuantifier]
    reason: str


DEFAULTS: Mapping[str, Default] = MappingProxyType(
    {
        FEATURES: Default(
            GuardedSLD,
            "counts predictions, corrected for changed shares of the classes and of {parts}, "
            "unless the sample contradicts that",
        ),
        # Without features there are no clusters by which kinds of shift could be distinguished.
        POSTERIORS: Default(
            SLD, "the most accurate of the methods if only the shares of the classes change"
        ),
    }
)

IF_PRIOR_SHIFT: type[AbstractClassifying] = SLD
"""Its estimate is shown for prior shift, next to that of the method."""

IF_COVARIATE_SHIFT: type[AbstractClassifying] = PCC
"""The mean posterior: stands for covariate shift, and is used where there are no labelled items."""

SCORING: type[AbstractClassifying] = PACC
"""Fits the classifier whose posteriors methods share; it does not calibrate them."""

ON_GROUPS: tuple[type[AbstractClassifying], ...] = (CC, PCC, PACC)
"""Methods tried on groups that are left out, in addition to the baseline and the method itself."""

CHOSEN = "chosen by you"
NOTHING_TO_ADJUST_WITH = "no labelled rows to adjust with: the mean of your model's posteriors"


def method_class(method: str, input_kind: str) -> type[AbstractQuantifier]:
    """The quantifier of that name, or the user's own; for `auto` the default.

    method: a name of the catalogue, "package.module:Class" or "FILE.py:Class".
    input_kind: FEATURES or POSTERIORS.
    """
    if method == AUTO:
        return DEFAULTS[input_kind].method
    # Imported here, since it imports every method and every shift.
    from quantshift.quantifiers.base import catalogue

    folder = None if file_and_name(method) is None else Path()
    cls = catalogue.quantifier_class(method, folder, other_names=[AUTO])
    if ":" in method:
        if cls.__name__ in catalogue.quantifiers():
            raise UserError(
                f"{method!r}: there is a method called {cls.__name__!r} already; rename the class"
            )
        _check_own(method, cls)
    name, tags = cls.__name__, cls.tags
    if tags.no_interval and not issubclass(cls, AbstractGuarded):
        raise UserError(f"{name} has no interval: {tags.no_interval}")
    if input_kind == POSTERIORS and tags.sees and "posteriors" not in tags.sees:
        raise UserError(f"{name} needs features, not posteriors; name columns of features")
    return cls


def name_of(method: str) -> str:
    """How results call the method: without the module or file of a user's own class.

    >>> name_of("my_lab.methods:Mine"), name_of("SLD")
    ('Mine', 'SLD')
    """
    return method.rpartition(":")[2]


def reason_for(method: str, input_kind: str) -> str:
    """Why the method is used; `{parts}` stands for topics or subgroups."""
    return DEFAULTS[input_kind].reason if method == AUTO else CHOSEN


def _check_own(method: str, cls: type) -> None:
    """Refuse a class of the user whose own functions would not be called."""
    if not issubclass(cls, AbstractQuantifier):
        raise UserError(
            f"{method!r} is not derived from quantshift.quantifiers.AbstractQuantifier, which an "
            "interval needs"
        )
    for function in (*ON_FEATURES, *ON_POSTERIORS):
        if replaces(cls, [function]):
            raise UserError(
                f"{method!r} replaces {function!r}, which is not called here; derive it from "
                "AbstractAggregative or AbstractQuantifier and define `_solve`"
            )
    made(method, cls)
