"""Experiments from TOML: a file or a name of the library, resolved for a profile and overrides.

See the docs and the included library for the format. Whatever would fail hours later is rejected
here, with the place of the error.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from quantshift import metrics
from quantshift.base.imports import is_import_path
from quantshift.errors import UserError, unknown_name
from quantshift.lab.data.embedded.embedded import EMBEDDED
from quantshift.lab.data.importing.arrays import DataFile
from quantshift.lab.data.packaged.packaged import PACKAGED
from quantshift.lab.experiments.documents.document import PAPER, Document, read_document
from quantshift.lab.experiments.documents.experiment import Experiment, MethodSpec
from quantshift.lab.experiments.documents.options import (
    check_classifier,
    check_classifier_option,
    check_options,
    default_options,
)
from quantshift.lab.experiments.documents.toml_tables import (
    ClassifierTable,
    DataTable,
    ExperimentTable,
    SelectionTable,
    null_for_none,
    validate,
)
from quantshift.lab.shifts.catalogue import protocol_class, protocols
from quantshift.lab.shifts.protocol import AbstractProtocol
from quantshift.lab.shifts.shift import AbstractShift
from quantshift.quantifiers.base import catalogue

COMMON = "_"
"""Prefix of files in the library that are not experiments but the base of several."""

MOST_CELLS = 1_000_000
"""More training sets, or test samples of one, are assumed to be a typing error."""

MOST_ITEMS = 1_000_000_000
"""Likewise for items in a training set, or in all its samples, which are all held in memory."""


def load_experiment(
    name_or_path: str | Path,
    *,
    profile: str = PAPER,
    overrides: Mapping[str, Any] | None = None,
    classifier: str | None = None,
) -> Experiment:
    """The experiment of that name in the library, or the one in a TOML file.

    `overrides` are values by dotted key, e.g. {"shift.train_size": 1000}; they win over the
    profile, which wins over the file. classifier: its name, in place of the whole [classifier]
    table with its options and grid; overrides may add others.

    Parameters
    ----------
    name_or_path : str or Path
        The experiment.
    profile : str
        "paper" for full sizes, "quick" for small ones.
    overrides : dict, optional
        Values by dotted key, such as {"shift.train_size": 1000}.
    classifier : str, optional
        By default logistic regression.

    Examples
    --------
    >>> from quantshift.lab.experiments import load_experiment
    >>> experiment = load_experiment("prior", overrides={"shift.train_size": 1000})
    >>> experiment.name, experiment.shift.train_size
    ('prior', 1000)
    """
    text, source, folder, read_base = _read(name_or_path)
    document = read_document(
        text,
        source=source,
        folder=folder,
        profile=profile,
        overrides=overrides or {},
        read_base=read_base,
        replacements=None if classifier is None else {"classifier": {"name": classifier}},
    )
    return _experiment(document, profile)


def library(*, profile: str = PAPER) -> dict[str, Experiment]:
    """The experiments that come with the package, by name."""
    return {name: load_experiment(name, profile=profile) for name in library_names()}


def library_names() -> list[str]:
    """Names of the experiments that come with the package, sorted."""
    return sorted(_shelves())


def suites() -> dict[str, tuple[str, ...]]:
    """Experiments of the library by suite, which is the name of their folder; both sorted."""
    names: dict[str, list[str]] = {}
    for name, folder in _shelves().items():
        names.setdefault(folder.name, []).append(name)
    return {suite: tuple(sorted(names[suite])) for suite in sorted(names)}


def experiments_of(names: Iterable[str]) -> list[str]:
    """The names, with suites replaced by their experiments, without duplicates."""
    all_suites = suites()
    return list(dict.fromkeys(one for name in names for one in all_suites.get(name, (name,))))


def _shelves() -> dict[str, Traversable]:
    """The folder of every experiment of the library, by the name of the experiment."""
    folders = (resources.files("quantshift.lab.experiments") / "library").iterdir()
    return {
        file.name.removesuffix(".toml"): folder
        for folder in folders
        if folder.is_dir()
        for file in folder.iterdir()
        if file.name.endswith(".toml") and not file.name.startswith(COMMON)
    }


def _read(name_or_path: str | Path) -> tuple[str, str, Path, Callable[[str], str]]:
    """Text, its name in error messages, the folder of relative paths, and a reader of its base."""
    source = str(name_or_path)
    if shelf := _shelves().get(source):
        text = (shelf / f"{source}.toml").read_text(encoding="utf-8")
        return text, source, Path(), lambda name: (shelf / name).read_text(encoding="utf-8")
    path = Path(name_or_path)
    if path.suffix != ".toml" and not path.exists():
        if source in (suites_by_name := suites()):
            raise UserError(
                f"{source!r} is a suite of several experiments: "
                f"{', '.join(suites_by_name[source])}; name one of them"
            )
        wrong = unknown_name("experiment", source, library_names())
        raise UserError(f"{wrong} (or give the path of a .toml file)")
    try:
        text = path.read_text(encoding="utf-8")
        return text, source, path.parent, lambda name: (path.parent / name).read_text("utf-8")
    except OSError as error:
        raise UserError(f"{source}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{source}: is not UTF-8 text; an experiment is a TOML file") from None


def _experiment(document: Document, profile: str) -> Experiment:
    kind = _shift_kind(document)
    with document.at("shift.kind"):
        protocol = protocol_class(kind)
    table = validate(document, protocol)
    shift = protocol(seed=table.seed, **table.shift.model_dump(exclude={"kind"}))
    experiment = Experiment(
        name=table.name,
        title=table.title or table.name,
        seed=table.seed,
        profile=profile,
        data=_data(table, document, protocol),
        kind=kind,
        shift=shift,
        classifier=_classifier(table, document),
        selection=_selection(table, document, shift),
        methods=_methods(table, document),
        folder=document.folder,
    )
    _check_points(shift, document)
    return experiment


def _shift_kind(document: Document) -> str:
    """The value of shift.kind."""
    kinds = sorted(cls.name for cls in protocols().values())
    table = document.values.get("shift")
    if not isinstance(table, dict):
        problem = "is missing; add it" if table is None else "must be a table"
        raise document.error("shift", f'{problem}, e.g. [shift] with kind = "prior"')
    kind = table.get("kind")
    if not isinstance(kind, str):
        problem = "is missing" if kind is None else f"must be a string in quotes, got {kind!r}"
        raise document.error("shift.kind", f"{problem}; known: {', '.join(kinds)}")
    return kind


def _check_points(shift: AbstractProtocol, document: Document) -> None:
    try:
        counts = {
            "training sets": shift.count_training_sets(),
            "test samples of each training set": shift.count_samples(),
        }
        for what, count in counts.items():
            _check_count(count or 0, what, MOST_CELLS)
        if isinstance(shift, AbstractShift):
            _check_count(shift.train_size, "items in each training set", MOST_ITEMS)
            n_items = shift.count_samples() * shift.test_size
            _check_count(n_items, "items in the test samples of a training set", MOST_ITEMS)
        shift.training_points()
    except UserError as error:
        # The protocol's messages start with the field, as in "test_size=0 must ...".
        for item in shift.option_fields():
            if rest := re.fullmatch(rf"{item.name}(?:=|: | )(.*)", str(error)):
                raise document.error(f"shift.{item.name}", rest[1]) from None
        raise document.error("shift", str(error)) from None


def _check_count(count: int, what: str, most: int) -> None:
    if count > most:
        raise UserError(f"asks for {count:,} {what}; at most {most:,} are possible")


def _data(table: ExperimentTable, document: Document, kind: type[AbstractProtocol]) -> DataTable:
    data = table.data
    if data.features and data.posteriors:
        raise document.error("data.posteriors", "features and posteriors are both given; keep one")
    arrays = "features" if data.features else "posteriors" if data.posteriors else None
    if arrays and not data.labels:
        raise document.error("data.labels", f"is missing; {arrays} need the labels of their items")
    for key in ("labels", "categories"):
        if getattr(data, key) and not arrays:
            raise document.error(f"data.{key}", "is given without features or posteriors; add one")
    if data.sets and arrays:
        raise document.error("data.sets", f"data sets and {arrays} are both given; keep one")
    for name in data.sets or ():
        is_embedded = name in EMBEDDED or name in PACKAGED
        if not is_embedded and not (folder := document.folder / name).is_dir():
            raise document.error(
                "data.sets", f"there is no folder {str(folder)!r}, nor an embedded data set"
            )
    if arrays and kind.needs_categories and not data.categories:
        raise document.error("data.categories", f"is missing; {kind.name} shift is between two")
    for key in ("features", "posteriors", "labels", "categories"):
        text = getattr(data, key)
        if text and not (path := DataFile.parse(text, document.folder).path).is_file():
            raise document.error(f"data.{key}", f"there is no file {str(path)!r}")
    if kind.cuts_levels and data.cut_point is not None:
        raise document.error(
            "data.cut_point",
            f"{kind.name} shift cuts at shift.train_cuts and shift.test_cuts; remove it",
        )
    return data


def _classifier(table: ExperimentTable, document: Document) -> ClassifierTable | None:
    if table.data.posteriors:
        if table.classifier:
            raise document.error("classifier", "posteriors need no classifier; remove the table")
        return None
    classifier = table.classifier or ClassifierTable()
    for name, values in classifier.grid.items():
        _check_grid(f"classifier.grid.{name}", values, name in classifier.options, document)
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


def _selection(
    table: ExperimentTable, document: Document, shift: AbstractProtocol
) -> SelectionTable:
    if table.selection is None:
        return SelectionTable()
    if table.data.posteriors and not any(method.grid for method in table.quantifier):
        raise document.error("selection", "posteriors leave nothing to select; remove the table")
    measures = list(metrics.MEASURES)
    if table.selection.measure not in measures:
        with document.at("selection.measure"):
            raise unknown_name("error measure", table.selection.measure, measures)
    if table.selection.rule == "protocol" and shift.drawn_prevalences(1, 3, seed=0) is None:
        raise document.error(
            "selection.rule",
            f"a {shift.name} shift has no rule that prevalences are drawn by; leave it out, or "
            'take "uniform"',
        )
    n_samples = table.selection.prevalences * table.selection.repeats
    with document.at("selection"):
        _check_count(n_samples, "validation samples", MOST_CELLS)
        n_items = n_samples * table.selection.size
        _check_count(n_items, "items in the validation samples", MOST_ITEMS)
    return table.selection


def _methods(table: ExperimentTable, document: Document) -> tuple[MethodSpec, ...]:
    """The listed methods, with the options of a [[quantifier]] of that name; then the others.

    A list from a profile or an override is complete: nothing is added to it.
    """
    entries = [
        (f"quantifier[{i}]", MethodSpec(entry.name, entry.method, entry.options, entry.grid))
        for i, entry in enumerate(table.quantifier)
    ]
    with_options = {
        method.name: (key, method)
        for key, method in entries
        if method.name == method.quantifier and method.name in table.quantifiers
    }
    listed = [
        with_options.get(text, (f"quantifiers[{i}]", _bare_method(text)))
        for i, text in enumerate(table.quantifiers)
    ]
    if "quantifiers" not in document.chosen:
        listed += [entry for entry in entries if entry not in with_options.values()]
    if not listed:
        raise document.error("quantifiers", 'is empty; name one, e.g. quantifiers = ["SLD"]')
    names: set[str] = set()
    methods = []
    for key, method in listed:
        if method.name in names:
            raise document.error(
                key, f"a method called {method.name!r} is there already; rename it"
            )
        names.add(method.name)
        methods.append(_checked_method(method, key, document))
        if table.data.posteriors and not methods[-1].takes_posteriors:
            raise document.error(
                key, f"{method.name!r} sees features, and the data are posteriors; remove it"
            )
    return tuple(methods)


def _checked_method(method: MethodSpec, key: str, document: Document) -> MethodSpec:
    """The method with "none" read as null; raises if it does not have the options."""
    with document.at(key):
        quantifier = catalogue.quantifier_class(method.quantifier)
        check_options(quantifier, {**method.options, **method.grid})
    for name, values in method.grid.items():
        _check_grid(f"{key}.grid.{name}", values, name in method.options, document)
    # Where the default is a string (calibration), "none" is a string too.
    text_options = {name for name, d in default_options(quantifier).items() if isinstance(d, str)}

    def read(name: str, value: Any) -> Any:
        return value if name in text_options else null_for_none(value)

    return dataclasses.replace(
        method,
        options={name: read(name, value) for name, value in method.options.items()},
        grid={name: read(name, values) for name, values in method.grid.items()},
    )


def _check_grid(key: str, values: tuple[Any, ...], fixed: bool, document: Document) -> None:
    if any(value in values[:i] for i, value in enumerate(values)):
        raise document.error(key, f"holds a value twice: {list(values)}")
    if fixed:
        raise document.error(key, f"is also in {key.partition('.grid.')[0]}.options; keep one")


def _bare_method(text: str) -> MethodSpec:
    name = text.rpartition(":")[2] if is_import_path(text) else text
    return MethodSpec(name, text)
