"""Experiments with several labels, in the store of all experiments.

An item may have any of several labels, so the shares of the labels of a sample do not add up to 1.
But each label divides the items into those without it and those with it. So a row of the store is a
label of a sample, with the two shares of these classes, and everything that reads a store (report,
leaderboard, tests) reads these results too: an error is that of a label, absolute or relative, and
a mean over rows is a mean over samples and their labels.

There are two experiments, after A. Moreo, M. Francisco and F. Sebastiani, "Multi-Label
Quantification" (TKDD 2023): in `multilabel-app` the share of one label after the other is set, in
`multilabel-npp` samples are random. Both test the same training set.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import clone

from quantshift.base.forks import uses_tables
from quantshift.base.progress import OnProgress
from quantshift.base.storage.integrity import record_checksum
from quantshift.base.types import Indices, Posteriors, Reals
from quantshift.errors import DataError
from quantshift.lab.data.several_labels.label_data import content_hash
from quantshift.lab.data.several_labels.mulan import LabelledItems
from quantshift.lab.results.store import ResultStore
from quantshift.lab.shifts.parts.coordinate import Coordinate
from quantshift.lab.shifts.protocol import Words
from quantshift.multilabel.label_models import LabelFolds, fit_label_models
from quantshift.multilabel.label_samples import natural_samples, samples_of_each_label
from quantshift.multilabel.label_tables import LabelTable
from quantshift.multilabel.multilabel_quantifier import (
    AbstractLabelAggregative,
    AbstractMultilabel,
)

SUITE = "multilabel"
EACH_LABEL, NATURAL = f"{SUITE}-app", f"{SUITE}-npp"
CLASSES = ("without", "with")
"""Items without a label and items with it, in the order of the shares of a row."""

CELL = "train_repeat-0"

DEGREE = "share of the label in the sample minus its share in training"

COORDINATES = (
    Coordinate("label", "test", "string", "label"),
    Coordinate("set_label", "test", "string", "label whose share is set"),
    Coordinate("set_share", "test", "float", "share that is set"),
)

NOTE = "Errors are of single labels; those of one sample are not independent, as tests assume."

LABEL_WORDS = {
    EACH_LABEL: Words(
        "Several labels: the share of one label at a time",
        DEGREE,
        digits=1,
        note=NOTE,
        summary="The share of one label after the other is set; the others follow.",
    ),
    NATURAL: Words(
        "Several labels: random samples",
        DEGREE,
        digits=1,
        note=NOTE,
        summary="Samples are random, and shares differ from training by chance.",
    ),
}


@dataclass(frozen=True, eq=False)
class LabelProblem:
    """Training and test items of a data set, with the same labels in both."""

    name: str
    X: Any
    labels: LabelTable
    X_test: Any
    labels_test: LabelTable

    def __post_init__(self) -> None:
        if not np.array_equal(self.labels.names, self.labels_test.names):
            raise DataError(
                f"{self.name}: the labels of training and test items differ; use the same ones in "
                "the same order"
            )

    def content_hash(self) -> str:
        """SHA-256 of items and labels."""
        parts = ((self.X, self.labels), (self.X_test, self.labels_test))
        return content_hash([LabelledItems(X, labels, ()) for X, labels in parts])


@dataclass(frozen=True)
class LabelProtocols:
    """The samples of both experiments.

    size: items of a sample. points: shares of each label, from 0 to 1; repeats: samples of each.
    n_natural: random samples.
    """

    size: int = 100
    points: int = 11
    repeats: int = 1
    n_natural: int = 100
    seed: int = 0

    def samples(self, labels: LabelTable) -> Iterator[tuple[str, Indices]]:
        """The experiments with their samples, as positions of test items."""
        yield (
            EACH_LABEL,
            samples_of_each_label(
                labels, self.size, self.points, self.repeats, random_state=self.seed
            ),
        )
        yield (
            NATURAL,
            natural_samples(len(labels), self.size, self.n_natural, random_state=self.seed),
        )

    def set_shares(self, experiment: str, labels: LabelTable) -> tuple[list[str], list[float]]:
        """The label that each sample sets, and to which share; empty and NaN if none is set."""
        if experiment == NATURAL:
            return [""] * self.n_natural, [float("nan")] * self.n_natural
        varies = labels.has.any(axis=0) & ~labels.has.all(axis=0)
        shares = np.repeat(np.linspace(0, 1, self.points), self.repeats).tolist()
        names = [str(name) for name in labels.names[varies]]
        return [name for name in names for _ in shares], shares * len(names)


@uses_tables
def run_label_experiments(
    problems: Sequence[LabelProblem],
    methods: Mapping[str, AbstractMultilabel],
    out: str | Path,
    protocols: LabelProtocols = LabelProtocols(),  # noqa: B008 - frozen
    progress: OnProgress | None = None,
) -> ResultStore:
    """Fit the methods on every data set, and store their estimates in the folder `out`.

    Methods that have results there already are not computed again. One that cannot be fitted on a
    data set is left out there, with a warning, unless none can.
    """
    steps = [f"{problem.name}, {name}" for problem in problems for name in methods]
    signatures = {name: _signature(method) for name, method in methods.items()}
    store = create_label_store(out, problems, signatures, protocols)
    for problem in problems:
        samples = dict(protocols.samples(problem.labels_test))
        shared = _SharedClassifiers(problem)
        left_out: list[str] = []
        for name, method in methods.items():
            missing = {
                experiment: index
                for experiment, index in samples.items()
                if name not in store.finished(experiment, problem.name, CELL)
            }
            if not missing:
                continue
            if progress is not None:
                step = f"{problem.name}, {name}"
                progress(step, steps.index(step), len(steps))
            try:
                estimate = shared.fitted(method)
            except DataError as error:
                left_out.append(name)
                if len(left_out) == len(methods):
                    raise
                warnings.warn(f"{problem.name}: without {name}: {error}", stacklevel=2)
                continue
            for experiment, index in missing.items():
                p_hat = estimate(index)
                write_label_estimates(store, experiment, problem, protocols, {name: p_hat})
    return store


class _SharedClassifiers:
    """Classifiers of a data set, fitted once for all methods that use the same ones."""

    def __init__(self, problem: LabelProblem) -> None:
        self.problem = problem
        self.posteriors: dict[str, tuple[Posteriors, Posteriors]] = {}

    def fitted(self, method: AbstractMultilabel) -> Callable[[Indices], Reals]:
        """The method, fitted on the training items, as a function of samples of the test items."""
        problem, quantifier = self.problem, clone(method)
        if not isinstance(quantifier, AbstractLabelAggregative):
            fitted = quantifier.fit(problem.X, problem.labels.has)
            return lambda index: fitted.predict(problem.X_test, index)
        key = repr((quantifier.classifier, quantifier.cv, quantifier.random_state))
        if key not in self.posteriors:
            folds = LabelFolds(quantifier.cv, quantifier.random_state)
            models, held_out = fit_label_models(
                quantifier.classifier, problem.X, problem.labels.has, folds
            )
            self.posteriors[key] = held_out, models.posteriors(problem.X_test)
        held_out, pool = self.posteriors[key]
        quantifier.fit_posteriors(held_out, problem.labels.has)
        return lambda index: quantifier.aggregate(pool, index)


def create_label_store(
    out: str | Path,
    problems: Sequence[LabelProblem],
    signatures: Mapping[str, str],
    protocols: LabelProtocols,
) -> ResultStore:
    """The store of both experiments, new or with entries added; signatures: by method."""
    methods = [{"name": name, "signature": value} for name, value in signatures.items()]
    datasets = {
        problem.name: {
            "items": problem.content_hash(),
            "source": problem.name,
            "classes": list(CLASSES),
            "cells": [CELL],
        }
        for problem in problems
    }
    return ResultStore.create(
        out,
        {
            "experiments": {
                experiment: {
                    "title": words.title,
                    "shift": {"kind": SUITE, **asdict(protocols)},
                    "datasets": datasets,
                    "coordinates": [coordinate.as_json() for coordinate in COORDINATES],
                    "diagnostics": {},
                    "words": words.as_json(),
                    "methods": methods,
                }
                for experiment, words in LABEL_WORDS.items()
            }
        },
    )


def write_label_estimates(
    store: ResultStore,
    experiment: str,
    problem: LabelProblem,
    protocols: LabelProtocols,
    estimates: Mapping[str, Reals],
) -> None:
    """Store the estimates of methods, (n_samples, n_labels) each, on the samples of a protocol."""
    labels = problem.labels_test
    index = dict(protocols.samples(labels))[experiment]
    set_label, set_share = protocols.set_shares(experiment, labels)
    p_true, n_labels = labels.has[index].mean(axis=1), len(labels.names)
    degree = (p_true - problem.labels.shares()).round(1) + 0.0
    frames = [
        pl.DataFrame(
            {
                "experiment": experiment,
                "shift": SUITE,
                "dataset": problem.name,
                "cell": CELL,
                "method": method,
                "stratum": 0,
                "train_repeat": 0,
                "sample": np.arange(p_true.size),
                "facet": "",
                "degree": degree.ravel(),
                "size": protocols.size,
                "p_true": _both_shares(p_true),
                "p_hat": _both_shares(p_hat),
                "label": [str(name) for name in labels.names] * len(index),
                "set_label": np.repeat(set_label, n_labels),
                "set_share": np.repeat(set_share, n_labels),
            }
        )
        for method, p_hat in estimates.items()
    ]
    signatures = store.methods(experiment)
    store.write_part(
        experiment,
        problem.name,
        CELL,
        {method: signatures[method] for method in estimates},
        pl.concat(frames),
    )


def _both_shares(shares: Reals) -> Reals:
    flat = np.asarray(shares).ravel()
    return np.column_stack([1 - flat, flat])


def _signature(method: AbstractMultilabel) -> str:
    kind = type(method)
    options = {name: repr(value) for name, value in sorted(method.get_params().items())}
    return record_checksum({"class": f"{kind.__module__}:{kind.__qualname__}", **options})[:16]
