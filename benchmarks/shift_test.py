"""The shift test on reviews and on tables: false alarms, power, and time.

    python benchmarks/shift_test.py reviews REVIEWS [--repeats 5 6 7 8 9] [--n-bootstrap 1000]
        [--draws 50] [--parts null covariate local time]
    python benchmarks/shift_test.py tables [--tables kept] [--first-repeat 100] [--repeats 4]
        [--samples 4] [--classifiers logistic,boosting,forest] [--train-sizes 300,2000]

`reviews`: REVIEWS is an imported data set of two categories. Training sets of 5,000, samples of
500, logistic regression with C = 10; every sample is tested separately, with `n-bootstrap`
replicates. Repetitions 0 to 4 were used to develop the test, so the default is the others.

* False alarms: prior shift with random category shares (drawn from both categories by class alone),
  p_train in .2, .3, .5, .7, p_test in 0, .1, ..., 1. The rate of each training set is printed too.
* Power: category share .5 -> .4 and .6 at unchanged prevalence; local shift |p_test - .5| = .05,
  .10, .15 with samples of 500 at each point; and how often the correct kind is named.
* Time: one sample of 500 with 1,000 replicates, everything included, best of five.

`tables`: false alarms where only the prevalence has changed. --tables is `development`, `kept` or
names separated by commas. Every repetition draws a training set with the table's own share of
positives and, from the other rows, --samples samples of 500 items at each prevalence of .1, .3, .5,
.7 and .9. Alarms are defined as in `quantshift quantify`: prior shift rejected at 5%, or items out
of the training support. Training sets with one cluster cannot be tested and raise no alarm; their
share is in the last column.

The standard error is clustered by training set. Tables in `real_tables.DEVELOPMENT` may be used to
choose constants; those in `real_tables.KEPT_ASIDE` are for reporting only.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from coverage_tables import TABLES, clustered_error
from parts import real_tables
from quantshift.base.seeding import generator, seed_of
from quantshift.classify.folds import stratified_folds
from quantshift.classify.learners import LogisticLearner
from quantshift.classify.posteriors import check_posteriors
from quantshift.diagnosis import shift_tests
from quantshift.items.items import Items
from quantshift.lab.data import Dataset, FolderSource, open_source
from quantshift.lab.experiments.documents.experiment import Experiment
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.population import Population, population_of
from quantshift.lab.shifts import AbstractShift, Draw
from quantshift.quantifiers.likelihood.subclass_sld import SubclassSLD
from quantshift.quantifying.training.classifiers import CLASSIFIERS

LEVEL = 0.05
SIZE, PREVALENCES = 500, (0.1, 0.3, 0.5, 0.7, 0.9)
VIEWS: dict[str, list[str]] = {
    "by classifier and training rows": ["classifier", "n_train"],
    "by prevalence": ["prevalence"],
    "by table": ["table"],
    "pooled": [],
}


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
    verbs = parser.add_subparsers(dest="verb", required=True)
    reviews = verbs.add_parser("reviews")
    reviews.add_argument("reviews", type=Path)
    reviews.add_argument("--repeats", type=int, nargs="+", default=[5, 6, 7, 8, 9])
    reviews.add_argument("--n-bootstrap", type=int, default=1000)
    reviews.add_argument("--draws", type=int, default=50)
    reviews.add_argument("--p-train", type=float, nargs="+", default=[0.2, 0.3, 0.5, 0.7])
    reviews.add_argument("--parts", nargs="+", default=["null", "covariate", "local", "time"])
    tables = verbs.add_parser("tables")
    tables.add_argument("--tables", default="development")
    tables.add_argument("--classifiers", default="logistic,boosting,forest")
    tables.add_argument("--train-sizes", default="300,2000")
    tables.add_argument("--first-repeat", type=int, default=0)
    tables.add_argument("--repeats", type=int, default=4)
    tables.add_argument("--samples", type=int, default=4, help="of each prevalence")
    tables.add_argument("--n-bootstrap", type=int, default=200)
    options = parser.parse_args()
    if options.verb == "tables":
        on_tables(options)
    else:
        on_reviews(options)


def on_reviews(options: argparse.Namespace) -> None:
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


def on_tables(options: argparse.Namespace) -> None:
    begun = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tests = pd.DataFrame(list(tests_on_tables(options)))
    for title, columns in VIEWS.items():
        print(f"\n{title}")
        print(alarms(tests, columns))
    print(f"\n{time.perf_counter() - begun:.0f} s")


def tests_on_tables(options: Any) -> Iterator[dict[str, Any]]:
    """A row for every test."""
    for name in TABLES.get(options.tables) or options.tables.split(","):
        table = real_tables.load(name)
        for n_train in map(int, options.train_sizes.split(",")):
            for classifier in options.classifiers.split(","):
                for repeat in range(options.first_repeat, options.first_repeat + options.repeats):
                    key = {"table": name, "n_train": n_train, "classifier": classifier}
                    data = real_tables.draw(table, n_train, repeat=repeat)
                    for row in of_training_set(data, key, repeat, options):
                        yield {**key, "training_set": "/".join(map(str, key.values())), **row}


def of_training_set(
    data: real_tables.Draw, key: dict[str, Any], repeat: int, options: Any
) -> Iterator[dict[str, Any]]:
    """The tests of all samples of one training set."""
    rng = generator(0, purpose="shift test of tables", repeat=repeat, **key)
    available = np.bincount(data.y_pool)
    prevalences, rows = [], []
    for p in PREVALENCES:
        shares = np.array([1 - p, p])
        if np.any(SIZE * shares + 3 * np.sqrt(SIZE * p * (1 - p)) > available):
            continue
        for _ in range(options.samples):
            prevalences.append(p)
            rows.append(real_tables.prior_shift_sample(data.y_pool, shares, SIZE, rng))
    if not rows:
        return
    used, positions = np.unique(np.concatenate(rows), return_inverse=True)
    learner = CLASSIFIERS[key["classifier"]](repeat)
    quantifier = SubclassSLD(learner, random_state=repeat).fit(data.X_train, data.y_train)
    divided = len(quantifier.model_.shares) > 1
    if not divided:
        outcomes = [(False, False)] * len(rows)
    else:
        tests = shift_tests(
            quantifier,
            quantifier.items(data.X_pool[used]),
            list(positions.reshape(len(rows), SIZE)),
            level=LEVEL,
            n_bootstrap=options.n_bootstrap,
            random_state=repeat,
        )
        outcomes = [(test.p_value < LEVEL, test.out_of_support) for test in tests]
    for p, (rejected, outside) in zip(prevalences, outcomes, strict=True):
        yield {
            "repeat": repeat,
            "prevalence": p,
            "rejected": rejected,
            "outside": outside,
            "divided": divided,
        }


def alarms(tests: pd.DataFrame, columns: list[str]) -> str:
    """Share of alarms with its clustered standard error."""
    lines = [
        f"{' '.join(f'{name:>22}' for name in columns)} {'alarm':>6} {'+-':>6} {'prior':>6} "
        f"{'outside':>7} {'n':>6} {'sets':>5} {'one cluster':>11}"
    ]
    for key, part in tests.groupby(columns) if columns else [((), tests)]:
        alarm = (part["rejected"] | part["outside"]).to_numpy().astype(float)
        sets = (part["training_set"] + "/" + part["repeat"].astype(str)).to_numpy()
        lines.append(
            f"{' '.join(f'{value:>22}' for value in key)} {alarm.mean():6.3f} "
            f"{clustered_error(alarm, sets):6.3f} {part['rejected'].mean():6.3f} "
            f"{part['outside'].mean():7.3f} {len(part):6d} {len(np.unique(sets)):5d} "
            f"{1 - part['divided'].mean():11.2f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
