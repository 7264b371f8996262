"""The suite `multilabel`, by name: its methods, and the data sets that it is run on.

Data sets are folders of `quantshift data import --layout labels`, or names of those of other
packages; without any, generated items are used.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import StandardScaler

from quantshift.base.storage.manifests import manifest_format
from quantshift.base.types import Indices, Posteriors, Reals
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.lab.data.packaged.packaged import PACKAGED
from quantshift.lab.data.several_labels.generated_items import generate_labelled_items
from quantshift.lab.data.several_labels.label_data import LABEL_DATA, PARTS, LabelData
from quantshift.lab.data.several_labels.mulan import LabelledItems
from quantshift.lab.data.several_labels.packaged_items import is_packaged_name, load_packaged_items
from quantshift.lab.experiments.documents.document import PAPER
from quantshift.lab.experiments.label_results import LabelProblem, LabelProtocols
from quantshift.multilabel.label_models import with_absence
from quantshift.multilabel.label_tables import LabelTable
from quantshift.multilabel.multilabel_quantifier import (
    AbstractLabelAggregative,
    AbstractMultilabel,
)
from quantshift.multilabel.regressed_shares import RegressedShares
from quantshift.multilabel.sets_as_classes import SetsAsClasses
from quantshift.multilabel.tilted_label_sets import TiltedLabelSets
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.baselines import BASELINE
from quantshift.quantifiers.baselines.trivial import MLPE
from quantshift.quantifiers.counting.adjusted import PACC
from quantshift.quantifiers.counting.counting import PCC
from quantshift.quantifiers.likelihood.sld import SLD

GENERATED = "tickets"
"""The name of the generated data set in results."""

N_GENERATED = 1000
"""Its training items, and its test items."""


class PosteriorsByLabel(AbstractLabelAggregative):
    """Each label on its own, from the posteriors that methods for several labels use too.

    So methods differ only in what they make of posteriors. quantifier: one that sees nothing but
    posteriors, cloned for each label; the other parameters are those of all such methods.
    """

    quantifiers_: list[Any]

    def __init__(
        self,
        quantifier: Any,
        classifier: BaseEstimator | None = None,
        *,
        cv: int = 5,
        random_state: int = 0,
    ) -> None:
        self.quantifier = quantifier
        self.classifier = classifier
        self.cv = cv
        self.random_state = random_state

    def _learn(self, posteriors: Posteriors, table: LabelTable, weights: Weights | None) -> None:
        self.quantifiers_ = [
            clone(self.quantifier).fit_posteriors(with_absence(p), has, sample_weight=weights)
            for p, has in zip(posteriors.T, table.has.T, strict=True)
        ]

    def _solve(self, posteriors: Posteriors, index: Indices, weights: Reals) -> Reals:
        columns = [
            quantifier.aggregate(with_absence(p), index, sample_weight=weights)[:, 1]
            for quantifier, p in zip(self.quantifiers_, posteriors.T, strict=True)
        ]
        return np.column_stack(columns)


def label_methods(names: Sequence[str] | None = None) -> dict[str, AbstractMultilabel]:
    """The methods of the suite by name; names: only these."""
    all_methods: Mapping[str, AbstractMultilabel] = {
        BASELINE: PosteriorsByLabel(MLPE()),
        **{f"{type(q).__name__} by label": PosteriorsByLabel(q) for q in (PCC(), PACC(), SLD())},
        **{type(q).__name__: q for q in (SetsAsClasses(), RegressedShares(), TiltedLabelSets())},
    }
    for name in names or ():
        if name not in all_methods:
            raise unknown_name("method for several labels", name, all_methods)
    return {name: all_methods[name] for name in (all_methods if names is None else names)}


def label_problems(data: Sequence[str | Path] = ()) -> list[LabelProblem]:
    """The data sets in folders, or of other packages by name; without any, generated items."""
    if not data:
        train = generate_labelled_items(N_GENERATED)
        test = generate_labelled_items(N_GENERATED, seed=1)
        return [LabelProblem(GENERATED, train.X, train.labels, test.X, test.labels)]
    problems: dict[str, LabelProblem] = {}
    for path in data:
        name, (train_items, test_items) = _items_at(path)
        if name in problems:
            raise UserError(f"two data sets are called {name!r}; rename one")
        X, X_test = _on_one_scale(train_items.X, test_items.X)
        problems[name] = LabelProblem(name, X, train_items.labels, X_test, test_items.labels)
    return list(problems.values())


def _items_at(path: str | Path) -> tuple[str, Sequence[LabelledItems]]:
    """The name of a data set, and its training and test items."""
    if is_packaged_name([path]):
        return str(path), load_packaged_items(str(path)).parts
    folder = Path(path)
    is_packaged = str(path) in PACKAGED and not folder.exists()
    if is_packaged or (
        folder.is_dir() and manifest_format(folder) not in (LABEL_DATA.format, None)
    ):
        raise DataError(
            f"{path} has one label per item; the suite for several labels needs a data set of "
            "`quantshift data import --layout labels`"
        )
    label_data = LabelData.open(folder)
    return label_data.name, [label_data.items(part) for part in PARTS]


def _on_one_scale(X: Any, X_test: Any) -> tuple[Any, Any]:
    """Dense features in units of their spread in training; sparse ones as they are."""
    if issparse(X):
        return X, X_test
    scaling = StandardScaler().fit(X)
    return scaling.transform(X), scaling.transform(X_test)


def label_protocols(profile: str | None) -> LabelProtocols:
    """The samples of a profile: five of each label and share, or one."""
    return LabelProtocols(repeats=5, n_natural=500) if profile == PAPER else LabelProtocols()
