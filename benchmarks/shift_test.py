"""The shift test on reviews: false alarms, power, and time.

    python benchmarks/shift_test.py REVIEWS [--repeats 5 6 7 8 9] [--n-bootstrap 1000] [--draws 50]

REVIEWS is an imported data set of two categories. Training sets of 5,000, samples of
500, logistic regression with C = 10; every sample is tested separately, with `n-bootstrap`
replicates. Repetitions 0 to 4 were used to develop the test, so the default is the others.

* False alarms: prior shift with random category shares (drawn from both categories by class alone),
  p_train in .2, .3, .5, .7, p_test in 0, .1, ..., 1. The rate of each training set is printed too.
* Power: category share .5 -> .4 and .6 at unchanged prevalence; local shift |p_test - .5| = .05,
  .10, .15 with samples of 500 at each point; and how often the correct kind is named.
* Time: one sample of 500 with 1,000 replicates, everything included, best of five.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from quantshift.base.seeding import seed_of
from quantshift.classify.folds import stratified_folds
from quantshift.classify.learners import LogisticLearner
from quantshift.classify.posteriors import check_posteriors
from quantshift.data import Dataset, FolderSource, open_source
from quantshift.diagnosis import shift_tests
from quantshift.experiments.documents.loading import load_experiment
from quantshift.experiments.experiment import Experiment
from quantshift.experiments.population import Population, population_of
from quantshift.quantifiers.base.items import Items
from quantshift.quantifiers.likelihood.subclass_sld import SubclassSLD
from quantshift.shifts import AbstractShift, Draw

LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Trained:
    """A quantifier fitted on one training set, and how to classify other items."""

    quantifier: SubclassSLD
    models: Any
    view: Any
    reduction: Any

    def items(self, rows: NDArray[np.int64]) -> Items:
        posteriors = check_posteriors(self.models.posteriors(self.view, rows)[0], 2)
        committee = check_posteriors(self.models.committee(self.view, rows, 0), 2)
        return Items(posteriors, committee, self.reduction(self.view.transform(rows)))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("reviews", type=Path)
    parser.add_argument("--repeats", type=int, nargs="+", default=[5, 6, 7, 8, 9])
    parser.add_argument("--n-bootstrap", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--p-train", type=float, nargs="+", default=[0.2, 0.3, 0.5, 0.7])
    parser.add_argument("--parts", nargs="+", default=["null", "covariate", "local", "time"])
    options = parser.parse_args()
    dataset = open_source(FolderSource(options.reviews))
    with threadpool_limits(limits=1):
        if "null" in options.parts:
            false_alarms(dataset, options)
        if "covariate" in options.parts:
            covariate_power(dataset, options)
        if "local" in options.parts:
            local_power(dataset, options)
        if "time" in options.parts:
            timing(dataset)


def false_alarms(dataset: Dataset, options: argparse.Namespace) -> None:
    experiment = load_experiment("prior")
    population = population_of(experiment, dataset)
    rates = []
    for point in chosen_points(experiment, options.repeats, p_train=options.p_train):
        trained, train = learn(experiment, dataset, population, point)
        protocol = replace(population.protocol, test_repeats=options.draws)
        draws = samples(protocol, population, train)
        kinds = kinds_of_shift(trained, population, draws, options.n_bootstrap)
        rates.append(float(np.mean([kind != "prior" for kind in kinds])))
        print(f"  {point}: false alarms {rates[-1]:.3f} of {len(kinds)}", flush=True)
    print(
        f"false alarms: mean {np.mean(rates):.4f} over {len(rates)} training sets, "
        f"largest {max(rates):.3f}, smallest {min(rates):.3f}"
    )


def covariate_power(dataset: Dataset, options: argparse.Namespace) -> None:
    experiment = load_experiment("covariate")
    population = population_of(experiment, dataset)
    kinds: dict[float, list[str]] = {}
    for point in chosen_points(experiment, options.repeats, p_train=[0.5], alpha_train=[0.5]):
        trained, train = learn(experiment, dataset, population, point)
        for alpha in (0.4, 0.45, 0.55, 0.6):
            protocol = replace(
                population.protocol,
                test_alphas=(alpha,),
                test_prevalences=(0.5,),
                test_repeats=options.draws,
            )
            draws = samples(protocol, population, train)
            found = kinds_of_shift(trained, population, draws, options.n_bootstrap)
            kinds.setdefault(alpha, []).extend(found)
    for alpha, found in sorted(kinds.items()):
        print(f"category share .5 -> {alpha}: {describe(found)}", flush=True)


def local_power(dataset: Dataset, options: argparse.Namespace) -> None:
    experiment = load_experiment("local")
    population = population_of(experiment, dataset)
    kinds: dict[float, list[str]] = {}
    for point in chosen_points(experiment, options.repeats):
        trained, train = learn(experiment, dataset, population, point)
        for p in (0.35, 0.4, 0.45, 0.55, 0.6, 0.65):
            # The protocol's size holds at p = .5; scale it to give 500 items at p.
            protocol = replace(
                population.protocol,
                test_prevalences=(p,),
                test_size=round(500 * 2 * (1 - p)),
                test_repeats=options.draws,
                with_control=False,
            )
            draws = samples(protocol, population, train)
            found = kinds_of_shift(trained, population, draws, options.n_bootstrap)
            kinds.setdefault(p, []).extend(found)
    for p, found in sorted(kinds.items()):
        print(f"local shift, p .5 -> {p}: {describe(found)}", flush=True)


def timing(dataset: Dataset) -> None:
    experiment = load_experiment("local")
    population = population_of(experiment, dataset)
    point = next(chosen_points(experiment, [0]))
    trained, train = learn(experiment, dataset, population, point)
    protocol = replace(population.protocol, test_prevalences=(0.5,), with_control=False)
    draws = samples(protocol, population, train)
    seconds = []
    for draw in draws[:6]:
        items = trained.items(population.rows[draw.indices])
        whole_sample = [np.arange(len(items))]
        start = time.perf_counter()
        shift_tests(trained.quantifier, items, whole_sample, n_bootstrap=1000)
        seconds.append(time.perf_counter() - start)
    print(f"one sample of {len(draws[0].indices)}, 1,000 replicates: {min(seconds[1:]):.2f} s")


def chosen_points(
    experiment: Experiment, repeats: list[int], **axes: list[float]
) -> Iterator[dict[str, Any]]:
    for point in experiment.shift.training_points():
        near = all(np.isclose(point[name], values).any() for name, values in axes.items())
        if near and point["train_repeat"] in repeats:
            yield dict(point)


def learn(
    experiment: Experiment, dataset: Dataset, population: Population, point: dict[str, Any]
) -> tuple[Trained, Draw]:
    train = population.protocol.training_set(
        point, population.labels, population.categories, pool=population.train_pool
    )
    rows, codes = population.rows[train.indices], train.labels.astype(np.int64)
    view = dataset.view(rows)
    folds = stratified_folds(codes, 5, seed=seed_of(0, benchmark="shift test"))
    models = LogisticLearner().learn(view, rows, codes, [{"C": 10.0}], folds)
    quantifier = SubclassSLD()
    reduction = quantifier.reduction(view.transform(rows), codes)
    known = Items(models.out_of_fold[0], features=reduction.training)
    quantifier.fit_items(known, codes, reduction=reduction)
    return Trained(quantifier, models, view, reduction), train


def samples(protocol: AbstractShift, population: Population, train: Draw) -> list[Draw]:
    return list(
        protocol.samples(
            population.labels,
            population.categories,
            pool=population.test_pool,
            train=train.coordinates,
        )
    )


def kinds_of_shift(
    trained: Trained, population: Population, draws: list[Draw], n_bootstrap: int
) -> list[str]:
    used, place = np.unique(np.concatenate([d.indices for d in draws]), return_inverse=True)
    index = np.split(place, np.cumsum([len(d.indices) for d in draws])[:-1])
    items = trained.items(population.rows[used])
    tests = shift_tests(trained.quantifier, items, index, level=LEVEL, n_bootstrap=n_bootstrap)
    return ["outside" if test.out_of_support else test.kind for test in tests]


def describe(kinds: list[str]) -> str:
    share = {
        name: kinds.count(name) / len(kinds) for name in ("prior", "covariate", "local", "outside")
    }
    named = ", ".join(f"{name} {value:.3f}" for name, value in share.items())
    return f"power {1 - share['prior']:.3f} of {len(kinds)} samples (named: {named})"


if __name__ == "__main__":
    main()
