"""Modules named as those of mlquantify, whose quantifiers are ours; a plugin of pytest."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from quantshift import quantifiers
from quantshift.errors import UserError

STYLE = {"prevalence_return_type": "dict"}
"""How `predict` returns prevalences."""


@contextmanager
def config_context(**options: Any) -> Iterator[None]:
    """mlquantify's settings, of which only the type of the result matters here."""
    before = dict(STYLE)
    STYLE.update(options)
    try:
        yield
    finally:
        STYLE.clear()
        STYLE.update(before)


def adapted(name: str, names: dict[str, str] | None = None, **fixed: Any) -> Any:
    """One of our quantifiers as mlquantify's: a `learner`, and a dictionary by class.

    names: our names of its options.
    """
    ours = getattr(quantifiers, name)
    renamed = {"learner": "classifier", **(names or {})}

    class Adapter:
        def __init__(self, learner: Any = None, **options: Any) -> None:
            self.learner = learner
            self.options = options
            for key, value in options.items():
                setattr(self, key, value)

        def fit(self, X: Any, y: Any) -> Any:
            given = {"learner": self.learner, **self.options}
            given = {key: value for key, value in given.items() if value is not None}
            quantifier = ours(**fixed, **{renamed.get(k, k): v for k, v in given.items()})
            self.quantifier_ = quantifier.fit(np.asarray(X), np.asarray(y))
            return self

        def predict(self, X: Any) -> Any:
            shares = self.quantifier_.predict(np.asarray(X))
            if STYLE["prevalence_return_type"] == "array":
                return shares
            return dict(zip(self.quantifier_.classes_.tolist(), shares.tolist(), strict=True))

    Adapter.__name__ = name
    return Adapter


def likelihood() -> Any:
    """SLD with mlquantify's names of calibrations."""
    base = adapted("SLD", {"calib_function": "calibration"})

    class EMQ(base):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            if self.options.get("calib_function") == "ts":
                self.options["calib_function"] = "temperature"
            return super().fit(X, y)

    return EMQ


MODULES: dict[str, dict[str, Any]] = {
    "mlquantify": {"config_context": config_context},
    "mlquantify._config": {"config_context": config_context},
    "mlquantify.utils": {},
    "mlquantify.utils._exceptions": {"InvalidParameterError": UserError},
    "mlquantify.likelihood": {"EMQ": likelihood()},
    "mlquantify.adjust_counting": {
        **{name: adapted(name) for name in ("CC", "PCC", "CDE")},
        "AC": adapted("ACC"),
        "PAC": adapted("PACC"),
        "TAC": adapted("T50"),
        "TX": adapted("MethodX"),
        "TMAX": adapted("MAX"),
        "FM": adapted("Friedman"),
    },
    "mlquantify.mixture": {
        **{name: adapted(name) for name in ("HDy", "SMM", "SORD", "HDx")},
        "DyS": adapted("DyS", {"measure": "divergence", "bins_size": "n_bins"}),
        "MMD_RKHS": adapted("MMDx"),
    },
}


def pytest_configure() -> None:
    """Put the modules in the place of mlquantify's."""
    for name, contents in MODULES.items():
        module = ModuleType(name)
        vars(module).update(contents)
        sys.modules[name] = module
