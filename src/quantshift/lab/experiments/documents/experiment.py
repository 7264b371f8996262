"""An experiment as data: what is drawn, which methods estimate it, how settings are chosen.

A method's signature is a hash of exactly what determines its results, so results with the same
signature need not be computed again.
"""

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

from quantshift.errors import UserError, unknown_name
from quantshift.lab.data.importing.arrays import DataFile
from quantshift.lab.data.sets.dataset import STARS_CUT
from quantshift.lab.experiments.documents.options import default_options, parameters
from quantshift.lab.experiments.documents.toml_tables import (
    ClassifierTable,
    DataTable,
    SelectionTable,
)
from quantshift.lab.shifts.protocol import AbstractProtocol
from quantshift.quantifiers.base.catalogue import quantifier_class
from quantshift.quantifiers.base.estimator import AbstractClassifying, AbstractQuantifier
from quantshift.quantifiers.base.foreign import (
    ON_FEATURES,
    ON_POSTERIORS,
    ForeignQuantifier,
    OwnAggregation,
    replaces,
)

Setting: TypeAlias = Mapping[str, Any]
"""One point of a grid, e.g. {"C": 10.0, "class_weight": None}."""


@dataclass(frozen=True)
class MethodSpec:
    """A quantifier with options, and the name that users see.

    quantifier: a name of the catalogue, an import path "my_lab.methods:Mine" or, with `folder`, a
        class of a file there: "mine.py:Mine".
    grid: options to choose from, each with its values.
    folder: the folder of the file with the class; it may be moved without losing results.
    """

    name: str
    quantifier: str
    options: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def cls(self) -> type[Any]:
        """Its class: derived from AbstractQuantifier, or any class with fit and predict."""
        return quantifier_class(self.quantifier, self.folder)

    @property
    def file(self) -> Path | None:
        """The file with the class, if it is not a class of quantshift."""
        if self.folder is not None:
            return self.folder / self.quantifier.rpartition(":")[0]
        if ":" not in self.quantifier:
            return None
        path = getattr(sys.modules[self.cls.__module__], "__file__", None)
        return Path(path) if path else None

    @property
    def is_foreign(self) -> bool:
        """Whether its own fit and predict are called: those of any class outside quantshift.

        A subclass of a quantifier is such a class too, if it replaces one of them.
        """
        return not issubclass(self.cls, AbstractQuantifier) or replaces(self.cls, ON_FEATURES)

    @property
    def shares_posteriors(self) -> bool:
        """Whether it sees posteriors, which all methods of a cell share."""
        if self.is_foreign:
            return False
        return "posteriors" in self.cls.tags.sees or self._aggregates_itself

    @property
    def takes_posteriors(self) -> bool:
        """Whether it can estimate when only the posteriors of the items are known."""
        return self.shares_posteriors or (not self.is_foreign and not self.cls.tags.sees)

    @property
    def draws_from_features(self) -> bool:
        """Whether what it learns from features is random (clusters) and uses the cell's seed."""
        return (
            not self.is_foreign
            and "features" in self.cls.tags.sees
            and "random_state" in parameters(self.cls)
        )

    @property
    def diagnostics(self) -> Mapping[str, str]:
        """The diagnostics of every estimate: name -> type."""
        own = self.is_foreign or self._aggregates_itself
        return {} if own else self.cls.diagnostics

    @property
    def _aggregates_itself(self) -> bool:
        """Whether it replaces `aggregate`, or another function of a quantifier on posteriors."""
        return replaces(self.cls, ON_POSTERIORS)

    def quantifier_with(self, choice: Setting, *, seed: int) -> AbstractQuantifier:
        """The unfitted quantifier with one choice of its own options.

        seed: for random parts of it; a method of another library keeps its own seed.
        """
        options = {**self.options, **choice}
        if self.is_foreign:
            return ForeignQuantifier(self.cls, options=options)
        seed_option = {"random_state": seed} if "random_state" in parameters(self.cls) else {}
        quantifier: AbstractQuantifier = self.cls(**options, **seed_option)
        for name in (*ON_FEATURES, *ON_POSTERIORS):
            if name in vars(quantifier):
                raise UserError(
                    f"{self.name}: {name!r} is set on the instance, which is not called; define it "
                    "as a method of the class"
                )
        if isinstance(quantifier, AbstractClassifying) and self._aggregates_itself:
            return OwnAggregation(quantifier)
        return quantifier


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A resolved experiment.

    kind        kind of shift: its name in the catalogue, or an import path
    classifier  None if the data are posteriors
    folder      the folder that paths in `data` are relative to
    """

    name: str
    title: str
    seed: int
    profile: str
    data: DataTable
    kind: str
    shift: AbstractProtocol
    classifier: ClassifierTable | None
    selection: SelectionTable
    methods: tuple[MethodSpec, ...]
    folder: Path

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The candidates for the classifier's options, C ascending; always at least one.

        Without selection, only the first value of every option as written.
        """
        return self._candidates(self.classifier.grid if self.classifier else {})

    def choices(self, method: MethodSpec) -> tuple[Setting, ...]:
        """The candidates for the method's own options, by the same rules."""
        return self._candidates(method.grid)

    @property
    def n_training_sets(self) -> int:
        """Number of training sets, which is the number of cells."""
        return self.shift.count_training_sets()

    @property
    def n_test_samples(self) -> int | None:
        """Number of test samples of each training set; None if it depends on the data."""
        return self.shift.count_samples()

    @property
    def diagnostics(self) -> dict[str, str]:
        """The diagnostics of all its methods: name -> type."""
        return {name: kind for m in self.methods for name, kind in m.diagnostics.items()}

    def method(self, name: str) -> MethodSpec:
        """The method of that name."""
        methods = {method.name: method for method in self.methods}
        if name not in methods:
            raise unknown_name(f"method of experiment {self.name!r}:", name, methods)
        return methods[name]

    def data_file(self, key: str) -> DataFile | None:
        """The file behind `data.<key>` ("features", "posteriors", "labels" or "categories")."""
        text = getattr(self.data, key)
        return None if text is None else DataFile.parse(text, self.folder)

    def resolved(self) -> dict[str, Any]:
        """The whole experiment as plain JSON values."""
        return {
            "name": self.name,
            "title": self.title,
            "profile": self.profile,
            **self.draws(),
            "classifier": _plain(self.classifier.model_dump()) if self.classifier else None,
            "selection": _plain(self.selection.matters()),
            "methods": [
                {
                    "name": method.name,
                    "quantifier": method.quantifier,
                    "options": _plain(method.options),
                    **({"grid": _plain(method.grid)} if method.grid else {}),
                    "signature": self.method_signature(method),
                }
                for method in self.methods
            ],
        }

    def method_signature(self, method: MethodSpec) -> str:
        """Hex digest of what determines the method's results.

        The experiment's name counts (it is part of the seeds); the method's name and titles do not.
        """
        quantifier = method.cls
        defaults = default_options(quantifier)
        options = {**defaults, **method.options}
        for name in getattr(quantifier, "later_options", ()):
            if options[name] == defaults[name]:
                # Results from before this option existed stay valid.
                del options[name]
        determining: dict[str, Any] = {
            "experiment": self.name,
            **self.draws(),
            "quantifier": method.quantifier,
            "options": options,
        }
        if method.grid:
            determining["grid"] = self.choices(method)
        if method.draws_from_features:
            determining["seeded"] = "cell"
        if self.classifier is not None and self.uses_classifier(method):
            determining["classifier"] = {
                "name": self.classifier.name,
                "options": self.classifier.options,
                "settings": self.settings,
            }
        # With a single candidate there is no choice.
        if self.chooses(method):
            determining["selection"] = self.selection.matters()
        text = json.dumps(
            _plain(determining), sort_keys=True, separators=(",", ":"), default=_name_of
        )
        return hashlib.sha256(text.encode()).hexdigest()

    def uses_classifier(self, method: MethodSpec) -> bool:
        """Whether a classifier is fitted for the method, by the experiment or the method itself."""
        return self.classifier is not None and (method.is_foreign or method.shares_posteriors)

    def chooses(self, method: MethodSpec) -> bool:
        """Whether the method has candidates to choose from by validation samples."""
        settings = self.settings if self.uses_classifier(method) else ({},)
        return len(settings) * len(self.choices(method)) > 1

    def signatures(self) -> dict[str, str]:
        """The signature of every method by its name."""
        return {method.name: self.method_signature(method) for method in self.methods}

    def _candidates(self, grid: Mapping[str, tuple[Any, ...]]) -> tuple[Setting, ...]:
        if self.selection.enabled:
            return grid_points(grid)
        return ({name: grid[name][0] for name in sorted(grid)},)

    def draws(self) -> dict[str, Any]:
        """What determines the training sets and the test samples, as plain JSON values."""
        shift = {"kind": self.kind, **self.shift.options()}
        # Data sets are not part of the experiment: their results are in separate folders.
        data = self.data.model_dump(exclude={"sets"})
        if self.data.cut_point is None and not self.data.labels and not self.shift.cuts_levels:
            # The default cut point of reviews; the classes of other data are described elsewhere.
            data["cut_point"] = STARS_CUT
        return {
            "seed": self.seed,
            "data": _plain(data),
            "shift": _plain(shift),
        }


def grid_points(grid: Mapping[str, tuple[Any, ...]]) -> tuple[Setting, ...]:
    """All points of a grid; axes in alphabetical order, numbers ascending, others as written."""
    axes = {name: _ascending(grid[name]) for name in sorted(grid)}
    return tuple(dict(zip(axes, point, strict=True)) for point in product(*axes.values()))


def _ascending(values: tuple[Any, ...]) -> tuple[Any, ...]:
    numeric = all(isinstance(value, int | float) for value in values)
    return tuple(sorted(values)) if numeric else values


def _plain(value: Any) -> Any:
    """JSON values in one form: 1.0 and 1 are one number, tuples are lists."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _name_of(value: Any) -> str:
    """The text used in a signature for a default that is not a JSON value, such as a function."""
    return str(getattr(value, "__qualname__", type(value).__qualname__))
