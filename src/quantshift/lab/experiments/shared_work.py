"""What the methods of a cell share: the training set, the classifier, posteriors, test samples."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from quantshift.base.seeding import seed_of
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences
from quantshift.classify.folds import stratified_folds, stratified_split
from quantshift.classify.learners import (
    AbstractLearner,
    AbstractModels,
    GivenPosteriors,
    LogisticLearner,
    SklearnLearner,
)
from quantshift.classify.named import classifier_class
from quantshift.classify.posteriors import check_posteriors
from quantshift.lab.data.noise import NoisyView
from quantshift.lab.data.sets.dataset import Dataset
from quantshift.lab.experiments.documents.experiment import Experiment, Setting
from quantshift.lab.experiments.documents.options import LOGISTIC
from quantshift.lab.experiments.planning import Cell
from quantshift.lab.experiments.population import Population
from quantshift.lab.experiments.stopwatch import Stopwatch
from quantshift.lab.shifts.parts.coordinates import NOISE, number
from quantshift.lab.shifts.protocol import Draw
from quantshift.lab.tuning.validation import ValidationSamples, draw_validation
from quantshift.texts.view import View

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
    """Everything that the methods of a cell share, computed once."""

    experiment: Experiment
    learner: AbstractLearner
    training: TrainingSet
    test_rows: Indices
    samples: list[Indices]
    watch: Stopwatch = field(default_factory=Stopwatch)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The candidates for the classifier's options; with given posteriors there is no choice."""
        return self.experiment.settings if self.has_features else ({},)

    @property
    def has_features(self) -> bool:
        """Whether features of the items are known, and not only their posteriors."""
        return not isinstance(self.learner, GivenPosteriors)

    @cached_property
    def training_features(self) -> Any:
        """Features of the training items."""
        with self.watch.sharing():
            return self.training.view.transform(self.training.rows)

    @cached_property
    def new_features(self) -> Any:
        """Features of the test items."""
        with self.watch.sharing():
            return self.training.view.transform(self.test_rows)

    @cached_property
    def validation(self) -> Validation:
        """The split and the samples by which candidates are compared."""
        options, training = self.experiment.selection, self.training
        with self.watch.sharing():
            part, rest = stratified_split(training.codes, options.train_share, seed=training.seed)
            samples = draw_validation(
                training.codes[rest],
                n_prevalences=options.prevalences,
                repeats=options.repeats,
                size=options.size,
                seed=training.seed,
                n_classes=training.n_classes,
                points=self._validation_points(),
            )
        return Validation(part, rest, samples)

    def _validation_points(self) -> Prevalences | None:
        """Prevalences drawn by the protocol's rule, if the experiment asks for them."""
        options = self.experiment.selection
        if options.rule != "protocol":
            return None
        return self.experiment.shift.drawn_prevalences(
            options.prevalences * options.repeats,
            self.training.n_classes,
            seed=self.training.seed,
        )

    @cached_property
    def validation_models(self) -> tuple[AbstractModels, Posteriors]:
        """Models of all settings on the training part, and their posteriors on the rest."""
        part, rest = self.validation.part, self.validation.rest
        with self.watch.sharing():
            models = self._learn(part, self.settings)
            held_out = models.posteriors(self.training.view, self.training.rows[rest])
            return models, check_posteriors(held_out, self.training.n_classes)

    def models_of(self, settings: Sequence[Setting]) -> tuple[AbstractModels, Posteriors]:
        """Models of the settings on the whole training set, and their posteriors on the pool."""
        with self.watch.sharing():
            models = self._learn(np.arange(len(self.training.rows)), settings)
            pool = models.posteriors(self.training.view, self.test_rows)
            return models, check_posteriors(pool, self.training.n_classes)

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


def bench_of(
    experiment: Experiment, cell: Cell, dataset: Dataset, population: Population
) -> tuple[Bench, list[Draw]]:
    """The shared work of the cell, and its test samples as they were drawn."""
    protocol, items = population.protocol, (population.labels, population.categories)
    train = protocol.training_set(cell.coordinates, *items, pool=population.train_pool)
    draws = list(protocol.samples(*items, pool=population.test_pool, train=train.coordinates))
    rows = population.rows[train.indices]
    view = dataset.view(rows)
    used, samples = _used_items(draws, len(population.rows))
    test_rows = population.rows[used]
    if NOISE in protocol.coordinates():
        view = NoisyView.fit(view, rows, len(dataset), seed=experiment.seed)
        test_rows, samples = _noisy_items(view, draws, population.rows)
    bench = Bench(
        experiment=experiment,
        learner=_learner(experiment, dataset, population.classes),
        training=TrainingSet(
            rows=rows,
            codes=np.asarray(train.labels).astype(np.int64),
            n_classes=len(population.classes),
            view=view,
            # For folds and validation samples; test samples have their own seeds.
            seed=seed_of(experiment.seed, experiment=experiment.name, cell=cell.key),
        ),
        test_rows=test_rows,
        samples=samples,
    )
    return bench, draws


def _learner(experiment: Experiment, dataset: Dataset, classes: tuple[str, ...]) -> AbstractLearner:
    if dataset.posteriors is not None:
        # Columns are in the order of the sorted classes, codes in the protocol's order.
        columns = [str(label) for label in sorted(dataset.classes.tolist())]
        if set(columns) != set(classes):
            # Ordered labels were cut, and the posteriors are those of the two sides.
            return GivenPosteriors(dataset.posteriors)
        return GivenPosteriors(dataset.posteriors[:, [columns.index(name) for name in classes]])
    table = experiment.classifier
    assert table is not None
    if table.name != LOGISTIC:
        return SklearnLearner(classifier_class(table.name)(**table.options))
    solver = {name: table.options[name] for name in ("tol", "max_iter") if name in table.options}
    defaults = {name: value for name, value in table.options.items() if name not in solver}
    return LogisticLearner(defaults=defaults, **solver)


def _used_items(draws: Sequence[Draw], n_items: int) -> tuple[Indices, list[Indices]]:
    """Positions used by any draw, ascending, and the draws as positions among them."""
    used = np.zeros(n_items, dtype=bool)
    for draw in draws:
        used[draw.indices] = True
    position = np.cumsum(used) - 1
    return np.flatnonzero(used), [position[draw.indices] for draw in draws]


def _noisy_items(
    view: NoisyView, draws: Sequence[Draw], rows: Indices
) -> tuple[Indices, list[Indices]]:
    """The same for noisy copies of the items: rows of the view, and the draws among them."""
    copies = [view.copies(rows[d.indices], number(d.coordinates[NOISE.name])) for d in draws]
    used = np.unique(np.concatenate(copies))
    return used, [np.searchsorted(used, rows_of_draw) for rows_of_draw in copies]
