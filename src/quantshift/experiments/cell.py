"""A cell: one training draw with all its test samples, from items to a frame of outcomes.

Pure: no printing, no paths, no state. All methods share the posteriors: the classifier is learnt
once per setting on part of the training set, every method chooses its own setting by its error on
samples of the rest, the distinct winners are learnt again on the whole training set, the test
items are classified once, and all samples are aggregated in one call.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift import prevalence
from quantshift.classify.clusters import Clusters, Partition
from quantshift.classify.folds import stratified_folds, stratified_split
from quantshift.classify.learners import (
    AbstractLearner,
    GivenPosteriors,
    LogisticLearner,
    Setting,
    SklearnLearner,
)
from quantshift.experiments.dataset import Dataset
from quantshift.experiments.importing import LOGISTIC, import_class
from quantshift.experiments.population import Population
from quantshift.experiments.spec import Experiment, MethodSpec
from quantshift.features.view import View
from quantshift.quantifiers.estimator import AbstractQuantifier, Diagnostics
from quantshift.quantifiers.foreign import fit_foreign
from quantshift.quantifiers.subclass import SubclassSLD
from quantshift.results.schema import SCHEMA, conform
from quantshift.seeding import seed_of
from quantshift.selection import ValidationSamples, draw_validation, validation_errors
from quantshift.shifts.sampling import Draw
from quantshift.types import Codes, Indices

N_FOLDS = 5
"""Folds of the out-of-fold posteriors, as in the paper."""

Division: TypeAlias = tuple[Partition, Clusters]
"""A division of the feature space, and where the training items are in it."""


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The training draw, ready for learners: rows of the data set and codes (1 = positive)."""

    rows: Indices
    codes: Codes
    view: View
    seed: int


@dataclass(frozen=True, eq=False)
class Outcome:
    """A method's estimates of all test samples, and the setting it chose."""

    p_hat: NDArray[np.float64]
    diagnostics: Diagnostics
    setting: str
    converged: bool


def run_cell(
    experiment: Experiment,
    coordinates: Mapping[str, Any],
    methods: Sequence[MethodSpec],
    dataset: Dataset,
    population: Population,
    *,
    key: str,
) -> pl.DataFrame:
    """Outcomes of the methods on the cell's test samples: a row per (method, sample)."""
    protocol, chosen = population.protocol, population
    train = protocol.training_set(
        coordinates, chosen.labels, chosen.categories, pool=chosen.train_pool
    )
    draws = list(
        protocol.samples(
            chosen.labels, chosen.categories, pool=chosen.test_pool, train=train.coordinates
        )
    )
    rows = chosen.rows[train.indices]
    training = TrainingSet(
        rows=rows,
        codes=train.labels.astype(np.int64),
        view=dataset.view(rows),
        # Test samples have seeds of their own; folds and validation samples belong to the cell.
        seed=seed_of(experiment.seed, experiment=experiment.name, cell=key),
    )
    used, samples = _used_items(draws, len(chosen.rows))
    outcomes = _outcomes(
        experiment, methods, _learner(experiment, dataset), training, chosen.rows[used], samples
    )
    p_true = np.array([draw.labels.mean() for draw in draws])
    shared = _sample_columns(draws, p_true)
    return conform(
        pl.concat(
            [
                _method_frame(experiment.name, key, method.name, shared, outcome)
                for method, outcome in zip(methods, outcomes, strict=True)
            ],
            how="diagonal_relaxed",
        )
    )


def _outcomes(
    experiment: Experiment,
    methods: Sequence[MethodSpec],
    learner: AbstractLearner,
    training: TrainingSet,
    test_rows: Indices,
    samples: list[Indices],
) -> list[Outcome]:
    ours = [method for method in methods if method.aggregates_posteriors]
    outcomes = dict(
        zip(
            [method.name for method in ours],
            _shared_outcomes(experiment, ours, learner, training, test_rows, samples),
            strict=True,
        )
    )
    for method in methods:
        if not method.aggregates_posteriors:
            outcomes[method.name] = _foreign_outcome(
                experiment, method, learner, training, test_rows, samples
            )
    return [outcomes[method.name] for method in methods]


def _shared_outcomes(
    experiment: Experiment,
    methods: Sequence[MethodSpec],
    learner: AbstractLearner,
    training: TrainingSet,
    test_rows: Indices,
    samples: list[Indices],
) -> list[Outcome]:
    """Outcomes of the methods that aggregate posteriors, which are made once for all."""
    quantifiers = [method.cls(**method.options) for method in methods]
    divisions = [_divide(quantifier, learner, training) for quantifier in quantifiers]
    winners = _choose(experiment, quantifiers, divisions, learner, training)
    distinct = sorted({winner for winner in winners if winner is not None})
    learnt = {}
    if distinct:
        models = learner.learn(
            training.view,
            training.rows,
            training.codes,
            [experiment.settings[winner] for winner in distinct],
            stratified_folds(training.codes, N_FOLDS, seed=training.seed),
        )
        pool = models.posteriors(training.view, test_rows)
        learnt = {
            winner: (models.out_of_fold[place], pool[place], bool(models.converged[place]))
            for place, winner in enumerate(distinct)
        }
    outcomes = []
    for quantifier, winner, division in zip(quantifiers, winners, divisions, strict=True):
        if winner is None:
            prior = prevalence.from_codes(training.codes, 2)
            known, new = (np.tile(prior, (len(rows), 1)) for rows in (training.rows, test_rows))
            setting, converged = "", True
        else:
            known, new, converged = learnt[winner]
            setting = _render(experiment.settings[winner])
        of_known, of_new = _clusters(division, training, test_rows)
        if winner is not None and division is not None:
            place = distinct.index(winner)
            of_new["committee"] = models.committee(training.view, test_rows, place)
        fitted = quantifier.fit_posteriors(known, training.codes, classes=[0, 1], **of_known)
        estimate = fitted.estimate_posteriors(new, samples, **of_new)
        outcomes.append(
            Outcome(estimate.prevalence[:, 1], estimate.diagnostics, setting, converged)
        )
    return outcomes


def _choose(
    experiment: Experiment,
    quantifiers: Sequence[AbstractQuantifier],
    divisions: Sequence[Division | None],
    learner: AbstractLearner,
    training: TrainingSet,
) -> list[int | None]:
    """The position of each quantifier's best setting, the first of equals; None if it has none."""
    candidates = [0 if quantifier.uses_classifier else None for quantifier in quantifiers]
    if len(experiment.settings) == 1 or candidates.count(None) == len(candidates):
        return candidates
    split = _validation(experiment, training)
    models = learner.learn(
        training.view,
        training.rows[split.part],
        training.codes[split.part],
        experiment.settings,
        stratified_folds(training.codes[split.part], N_FOLDS, seed=training.seed),
    )
    held_out = models.posteriors(training.view, training.rows[split.rest])
    return [
        None
        if candidate is None
        else int(
            validation_errors(
                quantifier,
                models.out_of_fold,
                training.codes[split.part],
                held_out,
                split.samples,
                measure=experiment.selection.measure,
                clusters=division and (division[1][split.part], division[1][split.rest]),
            ).argmin()
        )
        for quantifier, candidate, division in zip(quantifiers, candidates, divisions, strict=True)
    ]


def _divide(
    quantifier: AbstractQuantifier, learner: AbstractLearner, training: TrainingSet
) -> Division | None:
    """Clusters of the training items, for a quantifier over subclasses.

    They come from features alone, as the view itself does, so the choice of a setting shares them.
    """
    if not isinstance(quantifier, SubclassSLD) or isinstance(learner, GivenPosteriors):
        return None
    return quantifier.divide(training.view.transform(training.rows), training.codes)


def _clusters(
    division: Division | None, training: TrainingSet, test_rows: Indices
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a quantifier over subclasses is told about the training and about the test items."""
    if division is None:
        return {}, {}
    partition, known = division
    new = partition.locate(training.view.transform(test_rows))
    return {"clusters": known, "partition": partition}, {"clusters": new}


def _foreign_outcome(
    experiment: Experiment,
    method: MethodSpec,
    learner: AbstractLearner,
    training: TrainingSet,
    test_rows: Indices,
    samples: list[Indices],
) -> Outcome:
    """The outcome of a method that fits its own classifier and estimates sample by sample."""

    def fit(setting: Setting, members: Any) -> Callable[[Any], float]:
        return fit_foreign(
            method.cls,
            method.options,
            learner.estimator(setting),
            training.view.transform(training.rows[members]),
            training.codes[members],
        )

    winner = 0
    if len(experiment.settings) > 1:
        split = _validation(experiment, training)
        X = training.view.transform(training.rows[split.rest])
        errors = []
        for setting in experiment.settings:
            estimate = fit(setting, split.part)
            p_hat = prevalence.of_positive([estimate(X[index]) for index in split.samples.index])
            errors.append(split.samples.errors(p_hat, experiment.selection.measure).mean())
        winner = int(np.argmin(errors))
    estimate = fit(experiment.settings[winner], slice(None))
    X = training.view.transform(test_rows)
    p_hat = np.array([estimate(X[index]) for index in samples])
    return Outcome(p_hat, {}, _render(experiment.settings[winner]), True)


@dataclass(frozen=True, eq=False)
class Validation:
    """The training set split for the choice of a setting; samples index `rest`."""

    part: Indices
    rest: Indices
    samples: ValidationSamples


def _validation(experiment: Experiment, training: TrainingSet) -> Validation:
    options = experiment.selection
    part, rest = stratified_split(training.codes, options.train_share, seed=training.seed)
    samples = draw_validation(
        training.codes[rest],
        n_prevalences=options.prevalences,
        repeats=options.repeats,
        size=options.size,
        seed=training.seed,
    )
    return Validation(part, rest, samples)


def _learner(experiment: Experiment, dataset: Dataset) -> AbstractLearner:
    if dataset.posteriors is not None:
        return GivenPosteriors(dataset.posteriors)
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


def _sample_columns(draws: Sequence[Draw], p_true: NDArray[np.float64]) -> pl.DataFrame:
    names = sorted(set().union(*(draw.coordinates for draw in draws)))
    return pl.DataFrame(
        {
            **{name: [draw.coordinates.get(name) for draw in draws] for name in names},
            "degree": [draw.degree for draw in draws],
            "size": [len(draw.indices) for draw in draws],
            "p_true": p_true,
        }
    )


def _method_frame(
    experiment: str, key: str, method: str, shared: pl.DataFrame, outcome: Outcome
) -> pl.DataFrame:
    diagnostics = {
        name: pl.Series(values) for name, values in outcome.diagnostics.items() if name in SCHEMA
    }
    return shared.with_columns(
        pl.lit(experiment).alias("experiment"),
        pl.lit(key).alias("cell"),
        pl.lit(method).alias("method"),
        pl.Series("p_hat", outcome.p_hat),
        pl.lit(outcome.setting).alias("setting"),
        pl.lit(outcome.converged).alias("classifier_converged"),
        **diagnostics,
    )


def _render(setting: Setting) -> str:
    return ", ".join(f"{name}={_text(value)}" for name, value in setting.items())


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower()
