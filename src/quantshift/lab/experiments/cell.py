"""A cell: one training draw with all its test samples, from items to a frame of outcomes.

The functions are pure: no printing, no paths, no state. All methods share the posteriors. The
classifier is fitted once per setting on part of the training set; every method chooses a setting by
its error on samples of the rest; the chosen settings are fitted again on the whole training set;
the test items are classified once; and all samples are aggregated in one call. Methods that see
features but no posteriors choose among their own options in the same way.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from quantshift.base.types import Indices, Posteriors, Prevalences
from quantshift.classify.learners import (
    AbstractModels,
)
from quantshift.classify.posteriors import check_posteriors
from quantshift.classify.separation import Reference
from quantshift.errors import DataError
from quantshift.items.items import Items, take_rows
from quantshift.lab.data.noise import NoisyView
from quantshift.lab.data.sets.dataset import Dataset
from quantshift.lab.experiments.documents.experiment import Experiment, MethodSpec, Setting
from quantshift.lab.experiments.planning import Cell
from quantshift.lab.experiments.population import Population
from quantshift.lab.experiments.shared_work import Bench, bench_of
from quantshift.lab.experiments.stopwatch import Stopwatch
from quantshift.lab.results.schema import conform, schema_of
from quantshift.lab.shifts.parts.coordinates import SEPARATION
from quantshift.lab.shifts.protocol import Draw
from quantshift.lab.tuning.validation import validation_errors
from quantshift.quantifiers.base.estimator import ROUNDING, AbstractQuantifier, Estimate, Reduction
from quantshift.quantifiers.base.guarding import AUTO, COLUMNS, SIGNAL
from quantshift.tables.preparation import TableView
from quantshift.texts.view import MatrixView, View

NOT_OURS = (KeyboardInterrupt, GeneratorExit)
"""Raised to end a run, not by a method that fails."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A quantifier with one choice of its own options, and the features reduced for it."""

    choice: Setting
    quantifier: AbstractQuantifier
    reduction: Reduction | None = None

    @property
    def training_features(self) -> Any:
        """Reduced features of the training items."""
        return None if self.reduction is None else self.reduction.training

    def new_features(self, bench: Bench) -> Any:
        """Reduced features of the test items, which only the best candidate needs."""
        return None if self.reduction is None else self.reduction(bench.new_features)


@dataclass(frozen=True, eq=False)
class Outcome:
    """A method's estimates of all test samples, and the setting it chose."""

    estimate: Estimate
    setting: Setting
    converged: bool


@dataclass(frozen=True, eq=False)
class CellOutcome:
    """The result of a cell.

    frame: one row per (method, sample) of the methods that succeeded; None if none did.
    failures: the errors of the other methods.
    watch: how long each method took.
    """

    frame: pl.DataFrame | None
    failures: dict[str, BaseException]
    watch: Stopwatch


def run_cell(
    experiment: Experiment,
    cell: Cell,
    methods: Sequence[MethodSpec],
    dataset: Dataset,
    population: Population,
) -> pl.DataFrame:
    """Outcomes of the methods on the cell's test samples: one row per (method, sample).

    Raises the error of the first method that fails; `compute_cell` continues with the others.
    """
    outcome = compute_cell(experiment, cell, methods, dataset, population)
    for error in outcome.failures.values():
        raise error
    assert outcome.frame is not None
    return outcome.frame


def compute_cell(
    experiment: Experiment,
    cell: Cell,
    methods: Sequence[MethodSpec],
    dataset: Dataset,
    population: Population,
) -> CellOutcome:
    """Outcomes of the methods, errors of those that failed, and times."""
    protocol = population.protocol
    bench, draws = bench_of(experiment, cell, dataset, population)
    outcomes, failures = _outcomes(bench, methods)
    if not outcomes:
        return CellOutcome(None, failures, bench.watch)
    shared = _sample_columns(experiment, cell, population, draws)
    if SEPARATION in protocol.coordinates() and bench.has_features:
        shared = shared.with_columns(pl.Series(SEPARATION.name, _separations(bench)))
    frames = []
    for method in methods:
        if method.name not in outcomes:
            continue
        try:
            frames.append(_method_frame(method, shared, outcomes[method.name]))
        except Exception as error:  # A user's method may return anything.
            failures[method.name] = error
    failures = {m.name: failures[m.name] for m in methods if m.name in failures}
    if not frames:
        return CellOutcome(None, failures, bench.watch)
    schema = schema_of(protocol.coordinates(), experiment.diagnostics)
    frame = conform(pl.concat(frames, how="diagonal_relaxed"), schema)
    return CellOutcome(frame, failures, bench.watch)


def _separations(bench: Bench) -> list[float]:
    """How well a classifier separates each test sample from the training items (AUC)."""
    reference = Reference.of(bench.training_features, seed=bench.training.seed)
    position = reference.place(bench.new_features)
    return [reference.separation(position[rows]).auc for rows in bench.samples]


def _outcomes(
    bench: Bench, methods: Sequence[MethodSpec]
) -> tuple[dict[str, Outcome], dict[str, BaseException]]:
    """Outcomes and errors by the name of the method; a user's method may raise anything.

    That includes SystemExit, by `sys.exit()`, and errors of compiled libraries that are not an
    Exception.
    """
    outcomes: dict[str, Outcome] = {}
    failures: dict[str, BaseException] = {}
    winners: dict[str, tuple[Candidate, int]] = {}
    for method in methods:
        try:
            with bench.watch.timing(bench.watch.fit, method.name):
                if method.shares_posteriors:
                    winners[method.name] = _best_candidate(bench, method)
        except NOT_OURS:
            raise
        except BaseException as error:
            failures[method.name] = error
    models = _SharedModels(bench, [position for _, position in winners.values()])
    for method in methods:
        try:
            if method.name in winners:
                outcomes[method.name] = _shared_outcome(
                    bench, method, models, *winners[method.name]
                )
            elif method.name not in failures:
                outcomes[method.name] = _own_outcome(bench, method)
        except NOT_OURS:
            raise
        except BaseException as error:
            failures[method.name] = error
    ordered = [method.name for method in methods if method.name in failures]
    return outcomes, {name: failures[name] for name in ordered}


class _SharedModels:
    """Models of the settings that some method has chosen, fitted together on first use.

    If that fails, each is fitted alone, so that one bad setting does not fail other methods.
    """

    def __init__(self, bench: Bench, positions: Sequence[int]) -> None:
        self._bench = bench
        self._positions = sorted(set(positions))
        self._learnt: dict[int, tuple[AbstractModels, Posteriors, int]] = {}

    def of(self, position: int) -> tuple[AbstractModels, Posteriors, int]:
        """Models, posteriors of the pool, and the number of the setting in both.

        position: that of the setting among all settings of the classifier.
        """
        if position not in self._learnt and len(self._positions) > 1:
            with suppress(Exception):
                self._learn(self._positions)
        if position not in self._learnt:
            self._learn([position])
        return self._learnt[position]

    def _learn(self, positions: Sequence[int]) -> None:
        settings = [self._bench.settings[position] for position in positions]
        models, pool = self._bench.models_of(settings)
        self._learnt |= {
            position: (models, pool, number) for number, position in enumerate(positions)
        }


def _shared_outcome(
    bench: Bench, method: MethodSpec, models_of: _SharedModels, candidate: Candidate, position: int
) -> Outcome:
    """The outcome of a method that sees posteriors, which are computed once for all methods."""
    watch, quantifier, committee = bench.watch, candidate.quantifier, None
    models, pool, number = models_of.of(position)
    if "committee" in quantifier.tags.sees and bench.has_features:
        with watch.sharing():
            members = models.committee(bench.training.view, bench.test_rows, number)
            committee = check_posteriors(members, bench.training.n_classes)
    with watch.timing(watch.fit, method.name):
        fitted = quantifier.fit_items(
            Items(posteriors=models.out_of_fold[number], features=candidate.training_features),
            bench.training.codes,
            classes=bench.training.classes,
            reduction=candidate.reduction,
        )
    with watch.timing(watch.estimate, method.name):
        estimate = fitted.estimate_items(
            Items(
                posteriors=pool[number], committee=committee, features=candidate.new_features(bench)
            ),
            bench.samples,
        )
    setting = {**bench.settings[position], **candidate.choice}
    return Outcome(estimate, setting, bool(models.converged[number]))


def _best_candidate(bench: Bench, method: MethodSpec) -> tuple[Candidate, int]:
    """The method with its best options, and the position of the best setting of the classifier.

    If errors are equal, the first wins; settings of the classifier vary fastest.
    """
    candidates = [_candidate(bench, method, choice) for choice in bench.experiment.choices(method)]
    if len(candidates) * len(bench.settings) == 1:
        return candidates[0], 0
    split, (models, held_out) = bench.validation, bench.validation_models
    errors = np.stack(
        [
            validation_errors(
                candidate.quantifier,
                _items_by_setting(models.out_of_fold, candidate.training_features, split.part),
                bench.training.codes[split.part],
                _items_by_setting(held_out, candidate.training_features, split.rest),
                split.samples,
                measure=bench.experiment.selection.measure,
            )
            for candidate in candidates
        ]
    )
    best, position = np.unravel_index(int(errors.argmin()), errors.shape)
    return candidates[int(best)], int(position)


def _candidate(bench: Bench, method: MethodSpec, choice: Setting) -> Candidate:
    """The method with one choice of its options, and the features reduced for it.

    Features are reduced once, because they do not depend on the setting of the classifier.
    """
    quantifier = method.quantifier_with(choice, seed=bench.training.seed)
    if "features" not in quantifier.tags.sees or not bench.has_features:
        return Candidate(choice, quantifier)
    reduction = quantifier.reduction(bench.training_features, bench.training.codes)
    return Candidate(choice, quantifier, reduction)


def _items_by_setting(posteriors: Posteriors, features: Any, rows: Indices) -> list[Items]:
    """Some items of the training set, with the posteriors of each setting of the classifier."""
    chosen = None if features is None else take_rows(features, rows)
    return [Items(posteriors=of_setting, features=chosen) for of_setting in posteriors]


def _own_outcome(bench: Bench, method: MethodSpec) -> Outcome:
    """The outcome of a method that sees features or nothing, but no posteriors."""
    classes, codes = bench.training.classes, bench.training.codes
    candidates = [
        (setting, choice)
        for choice in bench.experiment.choices(method)
        for setting in (bench.settings if method.is_foreign else ({},))
    ]
    training_items, test_items = _own_items(bench, method)

    def build(setting: Setting, choice: Setting) -> AbstractQuantifier:
        quantifier = method.quantifier_with(choice, seed=bench.training.seed)
        if quantifier.tags.own_classifier:
            quantifier.set_params(classifier=bench.learner.estimator(setting))
        return suited(quantifier, bench.training.view)

    watch = bench.watch
    with watch.timing(watch.fit, method.name):
        best = _best_own(bench, candidates, build, training_items)
        fitted = build(*candidates[best]).fit_items(training_items, codes, classes=classes)
    setting, choice = candidates[best]
    with watch.timing(watch.estimate, method.name):
        estimate = fitted.estimate_items(test_items, bench.samples)
    return Outcome(estimate, {**setting, **choice}, True)


def _best_own(
    bench: Bench,
    candidates: Sequence[tuple[Setting, Setting]],
    build: Callable[[Setting, Setting], AbstractQuantifier],
    training_items: Items,
) -> int:
    """The position of the candidate with the smallest error on the validation samples."""
    if len(candidates) == 1:
        return 0
    split = bench.validation
    part, rest = training_items.take(split.part), training_items.take(split.rest)
    errors = [
        validation_errors(
            build(*candidate),
            [part],
            bench.training.codes[split.part],
            [rest],
            split.samples,
            measure=bench.experiment.selection.measure,
        )
        for candidate in candidates
    ]
    return int(np.argmin(errors))


def suited(quantifier: AbstractQuantifier, view: View) -> AbstractQuantifier:
    """The quantifier, with `mode` set if it is "auto" and the view is known to be a table or texts.

    Of a matrix, the quantifier judges by its width.
    """
    view = view.view if isinstance(view, NoisyView) else view
    if quantifier.get_params().get("mode") == AUTO and not isinstance(view, MatrixView):
        quantifier.set_params(mode=COLUMNS if isinstance(view, TableView) else SIGNAL)
    return quantifier


def _own_items(bench: Bench, method: MethodSpec) -> tuple[Items, Items]:
    """Training and test items for a method that sees no posteriors."""
    if not method.is_foreign and not method.cls.tags.sees:
        return Items(), Items()
    # Raises if the data are posteriors, which have no estimator.
    bench.learner.estimator(bench.settings[0])
    return Items(features=bench.training_features), Items(features=bench.new_features)


def _sample_columns(
    experiment: Experiment, cell: Cell, population: Population, draws: Sequence[Draw]
) -> pl.DataFrame:
    """The columns that the rows of all methods have in common: the cell and its samples."""
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
    _check_estimate(method, outcome.estimate, shared)
    diagnostics = outcome.estimate.diagnostics
    return shared.with_columns(
        pl.lit(method.name).alias("method"),
        _vectors(outcome.estimate.prevalence).alias("p_hat"),
        pl.lit(_render(outcome.setting)).alias("setting"),
        pl.lit(outcome.converged).alias("classifier_converged"),
        **{
            name: pl.Series(diagnostics[name]) for name in method.diagnostics if name in diagnostics
        },
    )


def _check_estimate(method: MethodSpec, estimate: object, shared: pl.DataFrame) -> None:
    """Refuse what a method that overrides more than its formulas may return."""
    if not isinstance(estimate, Estimate):
        raise DataError(
            f"{method.name}.estimate_items returned {type(estimate).__name__}: expected an "
            "Estimate; override predict or aggregate instead"
        )
    p_hat, expected = np.asarray(estimate.prevalence), (shared.height, len(estimate.classes))
    # Written so that NaN is refused as well.
    if p_hat.shape != expected or not (
        p_hat.min() >= -ROUNDING and np.abs(p_hat.sum(axis=1) - 1).max() <= ROUNDING
    ):
        raise DataError(
            f"{method.name}.estimate_items returned no prevalences: expected an array of shape "
            f"{expected} whose rows are not negative and sum to 1"
        )


def _vectors(values: Prevalences) -> pl.Series:
    return pl.Series(np.ascontiguousarray(values)).arr.to_list()


def _render(setting: Setting) -> str:
    return ", ".join(f"{name}={_text(value)}" for name, value in setting.items())


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower()
