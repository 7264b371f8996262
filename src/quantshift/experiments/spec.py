"""An experiment as data: what is drawn, which methods estimate it, how their settings are chosen.

A TOML file says it all (docs and the shipped library show how); `load_experiment` resolves it for
a profile and overrides into an `Experiment`, refusing whatever would fail hours later. A method's
signature is a hash of everything that determines its results and of nothing else: results under the
same signature need not be computed again.
"""

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

from quantshift import catalogue, metrics
from quantshift.errors import UserError, unknown_name
from quantshift.experiments.document import PAPER, Document, read_document
from quantshift.experiments.importing import (
    check_classifier,
    check_classifier_option,
    check_options,
    default_options,
    is_import_path,
    quantifier_class,
)
from quantshift.experiments.tables import (
    ClassifierTable,
    DataTable,
    ExperimentTable,
    SelectionTable,
    null_for_none,
    validate,
)
from quantshift.quantifiers.estimator import AbstractQuantifier
from quantshift.shifts.concept import ConceptShift
from quantshift.shifts.sampling import AbstractShift

Setting: TypeAlias = Mapping[str, Any]
"""One point of the classifier's grid, e.g. {"C": 10.0, "class_weight": None}."""

CUT_POINT = 3.0
"""Where the stars of a corpus are cut unless the file says otherwise (as in the paper)."""

_TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")


@dataclass(frozen=True)
class MethodSpec:
    """A quantifier with options under the name that people see.

    quantifier is a name of the catalogue or an import path "my_lab.methods:Mine".
    """

    name: str
    quantifier: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cls(self) -> type[Any]:
        """Its class: derived from AbstractQuantifier, or anybody's with fit and predict."""
        return quantifier_class(self.quantifier)

    @property
    def aggregates_posteriors(self) -> bool:
        """Whether it is one of ours, which share the posteriors of a cell."""
        return issubclass(self.cls, AbstractQuantifier)


@dataclass(frozen=True)
class DataFile:
    """A file of arrays, or a column of a table."""

    path: Path
    column: str | None = None


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A resolved experiment.

    classifier  None if the data are posteriors
    folder      where the relative paths of `data` begin
    """

    name: str
    title: str
    seed: int
    profile: str
    data: DataTable
    shift: AbstractShift
    classifier: ClassifierTable | None
    selection: SelectionTable
    methods: tuple[MethodSpec, ...]
    folder: Path

    def protocol(self) -> AbstractShift:
        """The protocol that draws the training sets and the test samples."""
        return self.shift

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The candidates for the classifier's options, C ascending; always at least one.

        Axes in alphabetical order, numbers ascending, other values as written. Without selection
        it is the first value of every axis as written.
        """
        grid = self.classifier.grid if self.classifier else {}
        axes = {name: grid[name] for name in sorted(grid)}
        if not self.selection.enabled:
            return ({name: values[0] for name, values in axes.items()},)
        return tuple(
            dict(zip(axes, point, strict=True))
            for point in product(*map(_ascending, axes.values()))
        )

    @property
    def n_training_sets(self) -> int:
        """Number of training sets, which is the number of cells."""
        return len(self.shift.training_points())

    @property
    def n_test_samples(self) -> int:
        """Number of test samples of each training set."""
        return len(self.shift.test_points())

    def method(self, name: str) -> MethodSpec:
        """The method of that name."""
        named = {method.name: method for method in self.methods}
        if name not in named:
            raise unknown_name(f"method of experiment {self.name!r}:", name, named)
        return named[name]

    def data_file(self, key: str) -> DataFile | None:
        """The file behind `data.<key>` ("features", "posteriors", "labels" or "categories")."""
        text = getattr(self.data, key)
        return None if text is None else _data_file(text, self.folder)

    def resolved(self) -> dict[str, Any]:
        """The whole experiment as plain JSON values."""
        return {
            "name": self.name,
            "title": self.title,
            "profile": self.profile,
            **self._draws(),
            "classifier": _plain(self.classifier.model_dump()) if self.classifier else None,
            "selection": _plain(self.selection.model_dump()),
            "methods": [
                {
                    "name": method.name,
                    "quantifier": method.quantifier,
                    "options": _plain(method.options),
                    "signature": self.method_signature(method),
                }
                for method in self.methods
            ],
        }

    def method_signature(self, method: MethodSpec) -> str:
        """Hex digest of what determines the method's results.

        The experiment's name does (it is in the seeds); the method's name and titles do not.
        """
        quantifier = quantifier_class(method.quantifier)
        matters: dict[str, Any] = {
            "experiment": self.name,
            **self._draws(),
            "quantifier": method.quantifier,
            "options": {**default_options(quantifier), **method.options},
        }
        if getattr(quantifier, "uses_classifier", True) and self.classifier:
            matters["classifier"] = {
                "name": self.classifier.name,
                "options": self.classifier.options,
                "settings": self.settings,
            }
            # With one candidate there is nothing to choose.
            if len(self.settings) > 1:
                matters["selection"] = self.selection.model_dump()
        text = json.dumps(_plain(matters), sort_keys=True, separators=(",", ":"), default=_name_of)
        return hashlib.sha256(text.encode()).hexdigest()

    def signatures(self) -> dict[str, str]:
        """The signature of every method by its name."""
        return {method.name: self.method_signature(method) for method in self.methods}

    def _draws(self) -> dict[str, Any]:
        """What determines the training sets and the test samples."""
        shift = {"kind": self.shift.name, **dataclasses.asdict(self.shift)}
        del shift["seed"]
        return {
            "seed": self.seed,
            "data": _plain(self.data.model_dump()),
            "shift": _plain(shift),
        }


def load_experiment(
    name_or_path: str | Path, *, profile: str = PAPER, overrides: Mapping[str, Any] | None = None
) -> Experiment:
    """The experiment of the library called so, or the one of a TOML file.

    `overrides` are values by dotted key, e.g. {"shift.train_size": 1000}; they win over the
    profile, which wins over the file.
    """
    text, source, folder = _read(name_or_path)
    document = read_document(
        text, source=source, folder=folder, profile=profile, overrides=overrides or {}
    )
    return _experiment(document, profile)


def library(*, profile: str = PAPER) -> dict[str, Experiment]:
    """The experiments that come with the package, by name."""
    return {name: load_experiment(name, profile=profile) for name in library_names()}


def library_names() -> list[str]:
    """Names of the experiments that come with the package, sorted."""
    files = (resources.files("quantshift.experiments") / "library").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def _read(name_or_path: str | Path) -> tuple[str, str, Path]:
    """Text, what error messages call it, and the folder of its relative paths."""
    source = str(name_or_path)
    if source in library_names():
        file = resources.files("quantshift.experiments") / "library" / f"{source}.toml"
        return file.read_text(encoding="utf-8"), source, Path()
    path = Path(name_or_path)
    if path.suffix != ".toml" and not path.exists():
        wrong = unknown_name("experiment", source, library_names())
        raise UserError(f"{wrong} (or give the path of a .toml file)")
    try:
        return path.read_text(encoding="utf-8"), source, path.parent
    except OSError as error:
        raise UserError(f"{source}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{source}: is not UTF-8 text; an experiment is a TOML file") from None


def _experiment(document: Document, profile: str) -> Experiment:
    kind = _shift_kind(document)
    table = validate(document, kind)
    shift = kind(seed=table.seed, **table.shift.model_dump(exclude={"kind"}))
    experiment = Experiment(
        name=table.name,
        title=table.title or table.name,
        seed=table.seed,
        profile=profile,
        data=_data(table, document, kind),
        shift=shift,
        classifier=_classifier(table, document),
        selection=_selection(table, document),
        methods=_methods(table, document),
        folder=document.folder,
    )
    _check_points(shift, document)
    return experiment


def _shift_kind(document: Document) -> type[AbstractShift]:
    kinds = {cls.name: cls for cls in catalogue.shifts().values()}
    table = document.values.get("shift")
    if not isinstance(table, dict):
        problem = "is missing; add it" if table is None else "must be a table"
        raise document.error("shift", f'{problem}, e.g. [shift] with kind = "prior"')
    kind = table.get("kind")
    if not isinstance(kind, str):
        problem = "is missing" if kind is None else f"must be a string in quotes, got {kind!r}"
        raise document.error("shift.kind", f"{problem}; known: {', '.join(sorted(kinds))}")
    if kind not in kinds:
        with document.at("shift.kind"):
            raise unknown_name("kind of shift", kind, kinds)
    return kinds[kind]


def _check_points(shift: AbstractShift, document: Document) -> None:
    try:
        shift.training_points()
        shift.test_points()
    except UserError as error:
        # The protocol's messages begin with the field, as "test_size=0 must ...".
        for item in dataclasses.fields(shift):
            if rest := re.fullmatch(rf"{item.name}(?:=|: | )(.*)", str(error)):
                raise document.error(f"shift.{item.name}", rest[1]) from None
        raise document.error("shift", str(error)) from None


def _data(table: ExperimentTable, document: Document, kind: type[AbstractShift]) -> DataTable:
    data = table.data
    if data.features and data.posteriors:
        raise document.error("data.posteriors", "features and posteriors are both given; keep one")
    arrays = "features" if data.features else "posteriors" if data.posteriors else None
    if arrays and not data.labels:
        raise document.error("data.labels", f"is missing; {arrays} need the labels of their items")
    for key in ("labels", "categories"):
        if getattr(data, key) and not arrays:
            raise document.error(f"data.{key}", "is given without features or posteriors; add one")
    between_categories = any(item.name == "category_a" for item in dataclasses.fields(kind))
    if arrays and between_categories and not data.categories:
        raise document.error("data.categories", f"is missing; {kind.name} shift is between two")
    for key in ("features", "posteriors", "labels", "categories"):
        text = getattr(data, key)
        if text and not (path := _data_file(text, document.folder).path).is_file():
            raise document.error(f"data.{key}", f"there is no file {str(path)!r}")
    if kind is ConceptShift and data.cut_point is not None:
        raise document.error(
            "data.cut_point",
            "concept shift cuts at shift.train_cuts and shift.test_cuts; remove it",
        )
    if kind is not ConceptShift and data.cut_point is None and not arrays:
        return data.model_copy(update={"cut_point": CUT_POINT})
    return data


def _classifier(table: ExperimentTable, document: Document) -> ClassifierTable | None:
    if table.data.posteriors:
        if table.classifier:
            raise document.error("classifier", "posteriors need no classifier; remove the table")
        return None
    classifier = table.classifier or ClassifierTable()
    for name, values in classifier.grid.items():
        key = f"classifier.grid.{name}"
        if any(value in values[:i] for i, value in enumerate(values)):
            raise document.error(key, f"holds a value twice: {list(values)}")
        if name in classifier.options:
            raise document.error(key, "is also in classifier.options; keep one")
    with document.at("classifier.name"):
        check_classifier(classifier.name, {**classifier.options, **classifier.grid})
    for name, value in classifier.options.items():
        with document.at(f"classifier.options.{name}"):
            check_classifier_option(classifier.name, name, value)
    for name, values in classifier.grid.items():
        with document.at(f"classifier.grid.{name}"):
            for value in values:
                check_classifier_option(classifier.name, name, value)
    return classifier


def _selection(table: ExperimentTable, document: Document) -> SelectionTable:
    if table.selection is None:
        return SelectionTable()
    if table.data.posteriors:
        raise document.error("selection", "posteriors leave nothing to select; remove the table")
    known = [*metrics.PLAIN, *metrics.SMOOTHED]
    if table.selection.measure not in known:
        with document.at("selection.measure"):
            raise unknown_name("error measure", table.selection.measure, known)
    return table.selection


def _methods(table: ExperimentTable, document: Document) -> tuple[MethodSpec, ...]:
    """The methods listed, with the options of a [[quantifier]] of that name; then the others.

    A list from a profile or an override says which methods run: nothing is added to it.
    """
    entries = [
        (f"quantifier[{i}]", MethodSpec(entry.name, entry.method, entry.options))
        for i, entry in enumerate(table.quantifier)
    ]
    own = {
        method.name: (key, method)
        for key, method in entries
        if method.name == method.quantifier and method.name in table.quantifiers
    }
    named = [
        own.get(text, (f"quantifiers[{i}]", _bare_method(text)))
        for i, text in enumerate(table.quantifiers)
    ]
    if "quantifiers" not in document.origins:
        named += [entry for entry in entries if entry not in own.values()]
    if not named:
        raise document.error("quantifiers", 'is empty; name one, e.g. quantifiers = ["SLD"]')
    seen: set[str] = set()
    methods = []
    for key, method in named:
        if method.name in seen:
            raise document.error(
                key, f"a method called {method.name!r} is there already; rename it"
            )
        seen.add(method.name)
        with document.at(key):
            quantifier = quantifier_class(method.quantifier)
            check_options(quantifier, method.options)
        # Where the default is a word (calibration), "none" is a word too.
        words = {name for name, d in default_options(quantifier).items() if isinstance(d, str)}
        options = {
            name: value if name in words else null_for_none(value)
            for name, value in method.options.items()
        }
        methods.append(MethodSpec(method.name, method.quantifier, options))
    return tuple(methods)


def _bare_method(text: str) -> MethodSpec:
    name = text.rpartition(":")[2] if is_import_path(text) else text
    return MethodSpec(name, text)


def _data_file(text: str, folder: Path) -> DataFile:
    file, colon, column = text.rpartition(":")
    if colon and file.lower().endswith(_TABLE_SUFFIXES):
        return DataFile(folder / file, column)
    return DataFile(folder / text)


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
    """What stands for a default that is no JSON value (a function, say) in a signature."""
    return str(getattr(value, "__qualname__", type(value).__qualname__))
