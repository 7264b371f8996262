"""A cell: one training draw with all its test samples, from items to a frame of outcomes.

Pure: no printing, no paths, no state. All methods share the posteriors: the classifier is learnt
once per setting on part of the training set, every method chooses its own setting by its error on
samples of the rest, the distinct winners are learnt again on the whole training set, the test
items are classified once, and all samples are aggregated in one call. Methods that see features
and no posteriors choose among their own options in the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from quantshift.classify.folds import stratified_folds, stratified_split
from quantshift.classify.learners import (
    AbstractLearner,
    AbstractModels,
    GivenPosteriors,
    LogisticLearner,
    SklearnLearner,
)
from quantshift.classify.posteriors import check_posteriors
from quantshift.classify.separation import Reference
from quantshift.data.dataset import Dataset
from quantshift.data.preparation import TableView
from quantshift.experiments.classes import LOGISTIC, import_class
from quantshift.experiments.experiment import Experiment, MethodSpec, Setting
from quantshift.experiments.planning import Cell
from quantshift.experiments.population import Population
from quantshift.features.view import View
from quantshift.quantifiers.estimator import AbstractQuantifier, Estimate, Reduction
from quantshift.quantifiers.items import Items, take_rows
from quantshift.results.schema import conform, schema_of
from quantshift.seeding import seed_of
from quantshift.selection import ValidationSamples, draw_validation, validation_errors
from quantshift.shifts.coordinates import SEPARATION
from quantshift.shifts.protocol import Draw
from quantshift.types import Codes, Indices, Posteriors, Prevalences

N_FOLDS = 5
"""Folds of the out-of-fold posteriors, as in the paper."""


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The training draw, ready for learners: rows of the data set and codes of their classes."""

    rows: Indices
    codes: Codes
    n_classes: int
    view: View
    seed: int

    @property
    def classes(self) -> range:
        """The codes."""
        return range(self.n_classes)


@dataclass(frozen=True, eq=False)
class Validation:
    """The training set split for the choice of a setting; samples index `rest`."""

    part: Indices
    rest: Indices
    samples: ValidationSamples


@dataclass(frozen=True, eq=False)
class Bench:
    """All that the methods of a cell share; what several of them need is made once."""

    experiment: Experiment
    learner: AbstractLearner
    training: TrainingSet
    test_rows: Indices
    samples: list[Indices]

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The candidates for the classifier's options; given posteriors leave nothing to choose."""
        return self.experiment.settings if self.has_features else ({},)

    @property
    def has_features(self) -> bool:
        """Whether more is known of the items than their posteriors."""
        return not isinstance(self.learner, GivenPosteriors)

    @cached_property
    def known_features(self) -> Any:
        """Features of the training items."""
        return self.training.view.transform(self.training.rows)

    @cached_property
    def new_features(self) -> Any:
        """Features of the test items."""
        return self.training.view.transform(self.test_rows)

    @cached_property
    def validation(self) -> Validation:
        """The split and the samples by which candidates are compared."""
        options, training = self.experiment.selection, self.training
        part, rest = stratified_split(training.codes, options.train_share, seed=training.seed)
        samples = draw_validation(
            training.codes[rest],
            n_prevalences=options.prevalences,
            repeats=options.repeats,
            size=options.size,
            seed=training.seed,
            n_classes=training.n_classes,
        )
        return Validation(part, rest, samples)

    @cached_property
    def validation_models(self) -> tuple[AbstractModels, Posteriors]:
        """Models of all settings on the training part, and their posteriors of the rest."""
        part, rest = self.validation.part, self.validation.rest
        models = self._learn(part, self.settings)
        held_out = models.posteriors(self.training.view, self.training.rows[rest])
        return models, check_posteriors(held_out, self.training.n_classes)

    def models_of(self, settings: Sequence[Setting]) -> AbstractModels:
        """Models of the settings on the whole training set."""
        return self._learn(np.arange(len(self.training.rows)), settings)

    def _learn(self, members: Indices, settings: Sequence[Setting]) -> AbstractModels:
        training = self.training
        codes = training.codes[members]
        return self.learner.learn(
            training.view,
            training.rows[members],
            codes,
            settings,
            stratified_folds(codes, N_FOLDS, seed=training.seed),
            training.n_classes,
        )


@dataclass(frozen=True, eq=False)
class Candidate:
    """A quantifier with one choice of its own options, and features reduced to what it wants."""

    choice: Setting
    quantifier: AbstractQuantifier
    reduction: Reduction | None = None

    @property
    def known_features(self) -> Any:
        """Those of the training items."""
        return None if self.reduction is None else self.reduction.known

    def new_features(self, bench: Bench) -> Any:
        """Those of the test items, which only the best candidate needs."""
        return None if self.reduction is None else self.reduction(bench.new_features)


@dataclass(frozen=True, eq=False)
class Outcome:
    """A method's estimates of all test samples, and the setting it chose."""

    estimate: Estimate
    setting: Setting
    converged: bool


def run_cell(
    experiment: Experiment,
    cell: Cell,
    methods: Sequence[MethodSpec],
    dataset: Dataset,
    population: Population,
) -> pl.DataFrame:
    """Outcomes of the methods on the cell's test samples: a row per (method, sample)."""
    protocol, items = population.protocol, (population.labels, population.categories)
    train = protocol.training_set(cell.coordinates, *items, pool=population.train_pool)
    draws = list(protocol.samples(*items, pool=population.test_pool, train=train.coordinates))
    rows = population.rows[train.indices]
    used, samples = _used_items(draws, len(population.rows))
    bench = Bench(
        experiment=experiment,
        learner=_learner(experiment, dataset, population.classes),
        training=TrainingSet(
            rows=rows,
            codes=np.asarray(train.labels).astype(np.int64),
            n_classes=len(population.classes),
            view=dataset.view(rows),
            # Test samples have seeds of their own; folds and validation samples are the cell's.
            seed=seed_of(experiment.seed, experiment=experiment.name, cell=cell.key),
        ),
        test_rows=population.rows[used],
        samples=samples,
    )
    outcomes = _outcomes(bench, methods)
    shared = _sample_columns(experiment, cell, population, draws)
    if SEPARATION in protocol.coordinates() and bench.has_features:
        shared = shared.with_columns(pl.Series(SEPARATION.name, _separations(bench)))
    frames = [
        _method_frame(method, shared, outcome)
        for method, outcome in zip(methods, outcomes, strict=True)
    ]
    schema = schema_of(protocol.coordinates(), experiment.diagnostics)
    return conform(pl.concat(frames, how="diagonal_relaxed"), schema)


def _separations(bench: Bench) -> list[float]:
    """How well a classifier tells each test sample from the training items (AUC)."""
    reference = Reference.of(bench.known_features, seed=bench.training.seed)
    position = reference.place(bench.new_features)
    return [reference.separation(position[rows]).auc for rows in bench.samples]


def _outcomes(bench: Bench, methods: Sequence[MethodSpec]) -> list[Outcome]:
    sharing = [method for method in methods if method.shares_posteriors]
    outcomes = dict(
        zip([method.name for method in sharing], _shared_outcomes(bench, sharing), strict=True)
    )
    for method in methods:
        if not method.shares_posteriors:
            outcomes[method.name] = _own_outcome(bench, method)
    return [outcomes[method.name] for method in methods]


def _shared_outcomes(bench: Bench, methods: Sequence[MethodSpec]) -> list[Outcome]:
    """Outcomes of the methods that see posteriors, which are made once for all."""
    winners = [_best_candidate(bench, method) for method in methods]
    distinct = sorted({place for _, place in winners})
    if not distinct:
        return []
    models = bench.models_of([bench.settings[place] for place in distinct])
    n_classes = bench.training.n_classes
    pool = check_posteriors(models.posteriors(bench.training.view, bench.test_rows), n_classes)
    outcomes = []
    for candidate, place in winners:
        number = distinct.index(place)
        quantifier, committee = candidate.quantifier, None
        if "committee" in quantifier.sees and bench.has_features:
            members = models.committee(bench.training.view, bench.test_rows, number)
            committee = check_posteriors(members, n_classes)
        fitted = quantifier.fit_items(
            Items(posteriors=models.out_of_fold[number], features=candidate.known_features),
            bench.training.codes,
            classes=bench.training.classes,
            reduction=candidate.reduction,
        )
        estimate = fitted.estimate_items(
            Items(
                posteriors=pool[number], committee=committee, features=candidate.new_features(bench)
            ),
            bench.samples,
        )
        setting = {**bench.settings[place], **candidate.choice}
        outcomes.append(Outcome(estimate, setting, bool(models.converged[number])))
    return outcomes


def _best_candidate(bench: Bench, method: MethodSpec) -> tuple[Candidate, int]:
    """The method with its best own options, and the place of its best setting of the classifier.

    The first of equals, settings of the classifier varying fastest.
    """
    candidates = [_candidate(bench, method, choice) for choice in bench.experiment.choices(method)]
    if len(candidates) * len(bench.settings) == 1:
        return candidates[0], 0
    split, (models, held_out) = bench.validation, bench.validation_models
    errors = np.stack(
        [
            validation_errors(
                candidate.quantifier,
                _shown(models.out_of_fold, candidate.known_features, split.part),
                bench.training.codes[split.part],
                _shown(held_out, candidate.known_features, split.rest),
                split.samples,
                measure=bench.experiment.selection.measure,
            )
            for candidate in candidates
        ]
    )
    best, place = np.unravel_index(int(errors.argmin()), errors.shape)
    return candidates[int(best)], int(place)


def _candidate(bench: Bench, method: MethodSpec, choice: Setting) -> Candidate:
    """The method with one choice of its options, and the features reduced to what it wants.

    Features are reduced once, for they do not depend on the setting of the classifier.
    """
    quantifier = method.quantifier_with(choice, seed=bench.training.seed)
    if "features" not in quantifier.sees or not bench.has_features:
        return Candidate(choice, quantifier)
    reduction = quantifier.reduction(bench.known_features, bench.training.codes)
    return Candidate(choice, quantifier, reduction)


def _shown(posteriors: Posteriors, features: Any, rows: Indices) -> list[Items]:
    """Some items of the training set as each setting of the classifier shows them."""
    chosen = None if features is None else take_rows(features, rows)
    return [Items(posteriors=of_setting, features=chosen) for of_setting in posteriors]


def _own_outcome(bench: Bench, method: MethodSpec) -> Outcome:
    """The outcome of a method that sees no posteriors: features, or nothing at all."""
    classes, codes = bench.training.classes, bench.training.codes
    candidates = [
        (setting, choice)
        for choice in bench.experiment.choices(method)
        for setting in (bench.settings if method.is_foreign else ({},))
    ]
    known, new = _own_items(bench, method)

    def built(setting: Setting, choice: Setting) -> AbstractQuantifier:
        quantifier = method.quantifier_with(choice, seed=bench.training.seed)
        if quantifier.own_classifier:
            quantifier.set_params(classifier=bench.learner.estimator(setting))
        return suited(quantifier, bench.training.view)

    best = 0
    if len(candidates) > 1:
        split = bench.validation
        part, rest = known.take(split.part), known.take(split.rest)
        errors = [
            validation_errors(
                built(*candidate),
                [part],
                codes[split.part],
                [rest],
                split.samples,
                measure=bench.experiment.selection.measure,
            )
            for candidate in candidates
        ]
        best = int(np.argmin(errors))
    fitted = built(*candidates[best]).fit_items(known, codes, classes=classes)
    setting, choice = candidates[best]
    return Outcome(fitted.estimate_items(new, bench.samples), {**setting, **choice}, True)


def suited(quantifier: AbstractQuantifier, view: View) -> AbstractQuantifier:
    """The quantifier, told what the features are made from if it asks: a matrix does not say."""
    if quantifier.get_params().get("mode") == "auto":
        quantifier.set_params(mode="columns" if isinstance(view, TableView) else "signal")
    return quantifier


def _own_items(bench: Bench, method: MethodSpec) -> tuple[Items, Items]:
    """Training and test items for a method that sees no posteriors."""
    if not method.is_foreign and not method.cls.sees:
        return Items(), Items()
    # A data set of posteriors has no estimator and says so.
    bench.learner.estimator(bench.settings[0])
    return Items(features=bench.known_features), Items(features=bench.new_features)


def _learner(experiment: Experiment, dataset: Dataset, classes: tuple[str, ...]) -> AbstractLearner:
    if dataset.posteriors is not None:
        # Their columns are those of the sorted classes, codes are in the protocol's order.
        columns = [str(label) for label in sorted(dataset.classes.tolist())]
        if set(columns) != set(classes):  # ordered labels were cut, and posteriors are of that
            return GivenPosteriors(dataset.posteriors)
        return GivenPosteriors(dataset.posteriors[:, [columns.index(name) for name in classes]])
    table = experiment.classifier
    assert table is not None
    if table.name != LOGISTIC:
        return SklearnLearner(import_class(table.name)(**table.options))
    solver = {name: table.options[name] for name in ("tol", "max_iter") if name in table.options}
    defaults = {name: value for name, value in table.options.items() if name not in solver}
    return LogisticLearner(defaults=defaults, **solver)


def _used_items(draws: Sequence[Draw], n_items: int) -> tuple[Indices, list[Indices]]:
    """Positions that any draw uses, ascending, and the draws as positions among them."""
    used = np.zeros(n_items, dtype=bool)
    for draw in draws:
        used[draw.indices] = True
    place = np.cumsum(used) - 1
    return np.flatnonzero(used), [place[draw.indices] for draw in draws]


def _sample_columns(
    experiment: Experiment, cell: Cell, population: Population, draws: Sequence[Draw]
) -> pl.DataFrame:
    """What the rows of all methods have in common: the cell and its samples."""
    classes = range(len(population.classes))
    names = [coordinate.name for coordinate in population.protocol.coordinates()]
    coordinates = {name: [draw.coordinates.get(name) for draw in draws] for name in names}
    return pl.DataFrame(
        {
            "sample": range(len(draws)),
            "facet": [draw.facet for draw in draws],
            "degree": [draw.degree for draw in draws],
            "size": [len(draw.indices) for draw in draws],
            "p_true": _vectors(np.stack([draw.true_prevalence(classes) for draw in draws])),
            **coordinates,
        },
        strict=False,
    ).with_columns(
        pl.lit(experiment.name).alias("experiment"),
        pl.lit(experiment.kind).alias("shift"),
        pl.lit(cell.dataset).alias("dataset"),
        pl.lit(cell.key).alias("cell"),
        pl.lit(cell.stratum).alias("stratum"),
        pl.lit(cell.coordinates["train_repeat"]).alias("train_repeat"),
    )


def _method_frame(method: MethodSpec, shared: pl.DataFrame, outcome: Outcome) -> pl.DataFrame:
    told = outcome.estimate.diagnostics
    return shared.with_columns(
        pl.lit(method.name).alias("method"),
        _vectors(outcome.estimate.prevalence).alias("p_hat"),
        pl.lit(_render(outcome.setting)).alias("setting"),
        pl.lit(outcome.converged).alias("classifier_converged"),
        **{name: pl.Series(told[name]) for name in method.diagnostics if name in told},
    )


def _vectors(values: Prevalences) -> pl.Series:
    return pl.Series(np.ascontiguousarray(values)).arr.to_list()


def _render(setting: Setting) -> str:
    return ", ".join(f"{name}={_text(value)}" for name, value in setting.items())


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower()
