"""Which methods take part in a benchmark: all of the catalogue that suit the data, and added ones.

Whether a method is suitable depends on what it declares (what it sees, whether it needs ordered
classes), not on its name.
"""

from collections.abc import Iterable, Sequence

from quantshift.base.imports import file_and_name, is_import_path
from quantshift.errors import UserError, unknown_name
from quantshift.items.items import MOST_FEATURES
from quantshift.lab.data.sets.dataset import Dataset
from quantshift.lab.experiments.documents.experiment import Experiment, MethodSpec
from quantshift.lab.experiments.documents.options import check_options, parameters
from quantshift.lab.experiments.population import Population
from quantshift.quantifiers.base import catalogue
from quantshift.quantifiers.base.estimator import AbstractQuantifier
from quantshift.tables.preparation import TableColumns
from quantshift.texts.counts import CountMatrix
from quantshift.texts.view import MatrixView

ADDED = "added"
"""The family of methods that are not in the catalogue."""


def family_of(quantifier: str) -> str:
    """The family of a quantifier in the catalogue; `ADDED` for any other."""
    cls = catalogue.quantifiers().get(quantifier)
    return ADDED if cls is None else catalogue.family(cls)


def added_method(text: str) -> MethodSpec:
    """The method of "my.py:Mine", a class in a file, or of "package.module:Mine".

    The file or module is executed. Raises if there is no such class, or if it is not a quantifier.
    """
    location = file_and_name(text)
    if location is not None:
        file, name = location
        if not file.is_file():
            raise UserError(f"there is no Python file {str(file)!r}", arguments=["added"])
        method = MethodSpec(name, f"{file.name}:{name}", folder=file.absolute().parent)
    elif is_import_path(text):
        name = text.rpartition(":")[2]
        method = MethodSpec(name, text)
    else:
        raise UserError(f"{text!r} is not of the form FILE.py:Class", arguments=["added"])
    check_options(method.cls, {})
    if name in catalogue.quantifiers():
        raise UserError(f"{text!r}: there is a method called {name!r} already; rename the class")
    _check_instance(method)
    return method


def _check_instance(method: MethodSpec) -> None:
    """Refuse a method whose instances are not what their class says; errors are left to the run."""
    try:
        method.quantifier_with({}, seed=0)
    except UserError:
        raise
    except Exception:
        return  # the run records it as a failure of the method, with its reason


def entrants(
    experiment: Experiment,
    *,
    methods: Sequence[str] | None = None,
    added: Iterable[MethodSpec] = (),
) -> tuple[MethodSpec, ...]:
    """All methods of the catalogue, those of the experiment with its options, and added ones.

    methods: only methods with these names, and the added ones.
    """
    experiment_methods = {method.name: method for method in experiment.methods}
    catalogue_methods = {name: MethodSpec(name, name) for name in catalogue.quantifiers()}
    chosen = {
        n: m
        for n, m in {**catalogue_methods, **experiment_methods}.items()
        if methods is None or n in methods
    }
    return tuple({**chosen, **{method.name: method for method in added}}.values())


def check_methods(methods: Sequence[str], experiments: Iterable[Experiment]) -> None:
    """Raise if a name is neither in the catalogue nor in an experiment."""
    known_names = {*catalogue.quantifiers(), *(m.name for e in experiments for m in e.methods)}
    for name in methods:
        if name not in known_names:
            raise unknown_name("method", name, sorted(known_names))


def unsuited(method: MethodSpec, dataset: Dataset, population: Population) -> str:
    """Why the method is left out on the data; an empty string if it is suitable."""
    n_classes = len(population.classes)
    if dataset.posteriors is not None and not method.takes_posteriors:
        return "sees features, and the data are posteriors"
    if not issubclass(method.cls, AbstractQuantifier):
        return ""
    if method.cls.tags.ordered and n_classes == 2:
        return "only for three or more ordered classes"
    if method.cls.tags.ordered and not dataset.ordinal:
        return "only for ordered classes"
    if _compares_features(method) and _n_features(dataset) > MOST_FEATURES:
        return f"compares features one by one, and there are more than {MOST_FEATURES:,}"
    return ""


def _compares_features(method: MethodSpec) -> bool:
    """Whether the method uses features directly, without a classifier."""
    sees, options = method.cls.tags.sees, parameters(method.cls)
    classifies = "posteriors" in sees or {"classifier", "classifiers"} & options.keys()
    return "features" in sees and not classifies


def _n_features(dataset: Dataset) -> int:
    features = dataset.features
    if isinstance(features, CountMatrix):
        return features.n_words
    if isinstance(features, MatrixView):
        return int(features.matrix.shape[1])
    if isinstance(features, TableColumns):
        return len(features.number_names) + sum(map(len, features.levels))
    return 0
