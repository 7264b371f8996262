"""The refutation test of label shift: false refutations, power, and time.

    python benchmarks/refutation.py tables [--tables development] [--first-repeat 0] [--repeats 2]
        [--samples 2] [--classifiers logistic,boosting,forest] [--train-sizes 500,2000]
        [--family prior] [--prevalences 0.1,0.3,0.5,0.7,0.9] [--size 500] [--replace]
    python benchmarks/refutation.py reviews REVIEWS [--repeats 0 1] [--draws 4]

`tables`: artificial prior shift, where only the prevalence has changed. Every repetition draws a
training set with the table's own share of positives and, from the other rows, samples of --size
items at every one of --prevalences; --replace draws with replacement, so that samples hold copies
of items. Columns are prepared as in the rest of quantshift. For power on natural samples see
"refuted >= 500" in the output of `benchmarks/natural.py`.

`reviews`: training sets of 5,000 and samples of 500 of imported reviews with two
categories, logistic regression with C = 10, under prior, global (pure where the prevalences are
equal, mixed elsewhere) and local covariate shift. Extremes are samples of a category that training
has not seen, which no label shift explains.

Standard errors are clustered by training set. Tables in `real_tables.DEVELOPMENT` and repetitions 0
to 4 of the reviews may be used to choose constants; the others are for reporting only.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from coverage_tables import TABLES, clustered_error
from parts.real_tables import load, prior_shift_sample
from quantshift import SubclassSLD
from quantshift.base.seeding import generator, seed_of
from quantshift.classify.folds import stratified_folds
from quantshift.classify.learners import LogisticLearner
from quantshift.classify.posteriors import check_posteriors
from quantshift.diagnosis import refutation_tests
from quantshift.items.items import Items
from quantshift.lab.data import FolderSource, open_source
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.population import population_of
from quantshift.quantifying.training.classifiers import CLASSIFIERS
from quantshift.tables.preparation import TableColumns

SIZE, PREVALENCES = 500, (0.1, 0.3, 0.5, 0.7, 0.9)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kinds = parser.add_subparsers(required=True)
    tables = kinds.add_parser("tables")
    tables.add_argument("--tables", default="development")
    tables.add_argument("--classifiers", default="logistic,boosting,forest")
    tables.add_argument("--train-sizes", default="500,2000")
    tables.add_argument("--first-repeat", type=int, default=0)
    tables.add_argument("--repeats", type=int, default=2)
    tables.add_argument("--samples", type=int, default=2, help="of each prevalence")
    tables.add_argument("--family", default="prior", help="or subclasses")
    tables.add_argument("--prevalences", default=",".join(map(str, PREVALENCES)))
    tables.add_argument("--size", type=int, default=SIZE)
    tables.add_argument("--replace", action="store_true")
    tables.set_defaults(
        run=of_tables, views=(["classifier"], ["n_train"], ["prevalence"], ["table"], [])
    )
    reviews = kinds.add_parser("reviews")
    reviews.add_argument("reviews", type=Path)
    reviews.add_argument("--repeats", type=int, nargs="+", default=[5, 6])
    reviews.add_argument("--draws", type=int, default=4)
    reviews.add_argument("--experiments", nargs="+", default=["prior", "covariate", "local"])
    reviews.set_defaults(run=of_reviews, views=(["shift"], []))
    options = parser.parse_args()
    begun = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tests = pd.DataFrame(list(options.run(options)))
    for columns in options.views:
        print(f"\n{'by ' + ', '.join(columns) if columns else 'pooled'}")
        print(summarise(tests, columns))
    print(f"\n{tests['seconds'].mean():.3f} s per test, {time.perf_counter() - begun:.0f} s in all")


def of_tables(options: Any) -> Iterator[dict[str, Any]]:
    """A row for every test of a sample under artificial prior shift."""
    for name in TABLES.get(options.tables) or options.tables.split(","):
        table = load(name)
        columns = TableColumns.of(pl.from_pandas(table.columns))
        for n_train in map(int, options.train_sizes.split(",")):
            for repeat in range(options.first_repeat, options.first_repeat + options.repeats):
                axes = {"table": name, "n_train": n_train, "repeat": repeat}
                rng = generator(0, purpose="refutation", **axes)
                train, pool = split(table.codes, n_train, rng)
                prevalences, samples = prior_shift(
                    table.codes,
                    pool,
                    options.samples,
                    rng,
                    prevalences=tuple(map(float, options.prevalences.split(","))),
                    size=options.size,
                    replace=options.replace,
                )
                if not samples:
                    continue
                view = columns.view(train)
                X_train, X_pool = dense(view.transform(train)), dense(view.transform(pool))
                for classifier in options.classifiers.split(","):
                    learner = CLASSIFIERS[classifier](repeat)
                    quantifier = SubclassSLD(learner, random_state=repeat)
                    quantifier.fit(X_train, table.codes[train])
                    begun = time.perf_counter()
                    items = quantifier.items(X_pool)
                    tests = refutation_tests(
                        quantifier,
                        X_train,
                        items,
                        X_pool,
                        samples,
                        family=options.family,
                        random_state=repeat,
                    )
                    seconds = (time.perf_counter() - begun) / len(tests)
                    for p, test in zip(prevalences, tests, strict=True):
                        yield {
                            **axes,
                            "classifier": classifier,
                            "prevalence": p,
                            "set": f"{name}/{n_train}/{repeat}",
                            "refuted": test.refuted,
                            "auc": test.auc,
                            "z": test.z,
                            "explained": test.explained,
                            "seconds": seconds,
                        }


def dense(X: Any) -> Any:
    """Features as every classifier takes them."""
    return X.toarray() if issparse(X) else X


def split(codes: Any, n_train: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Training rows with the table's own prevalence, at most half of either class; the others."""
    train = []
    for code in np.unique(codes):
        members = rng.permutation(np.flatnonzero(codes == code))
        wanted = max(round(n_train * len(members) / len(codes)), 10)
        train.append(members[: min(wanted, len(members) // 2)])
    chosen = rng.permutation(np.concatenate(train))
    return chosen, np.setdiff1d(np.arange(len(codes)), chosen)


def prior_shift(
    codes: Any,
    pool: Any,
    repeats: int,
    rng: np.random.Generator,
    *,
    prevalences: tuple[float, ...] = PREVALENCES,
    size: int = SIZE,
    replace: bool = False,
) -> tuple[list[float], list[Any]]:
    """Samples of the pool, as positions in it, and their prevalences.

    Where the pool has too few items of a class for a prevalence, it is left out, unless items are
    drawn with replacement.
    """
    available = np.bincount(codes[pool])
    drawn, samples = [], []
    for p in prevalences:
        shares = np.array([1 - p, p])
        short = np.any(size * shares + 3 * np.sqrt(size * p * (1 - p)) > available)
        if short and not replace:
            continue
        for _ in range(repeats):
            drawn.append(p)
            if replace:
                odds = (shares / available)[codes[pool]]
                samples.append(rng.choice(len(pool), size, p=odds / odds.sum()))
            else:
                samples.append(prior_shift_sample(codes[pool], shares, size, rng))
    return drawn, samples


def of_reviews(options: Any) -> Iterator[dict[str, Any]]:
    """A row for every test of a sample of reviews."""
    dataset = open_source(FolderSource(options.reviews))
    for name in options.experiments:
        experiment = load_experiment(name)
        population = population_of(experiment, dataset)
        for point in chosen_points(experiment, options.repeats):
            rng = generator(0, purpose="refutation of reviews", experiment=name, **point)
            items = (population.labels, population.categories)
            train = population.protocol.training_set(point, *items, pool=population.train_pool)
            protocol = replace(population.protocol, test_repeats=1)
            draws = list(
                protocol.samples(*items, pool=population.test_pool, train=train.coordinates)
            )
            draws = [draws[i] for i in rng.permutation(len(draws))[: 11 * options.draws]]
            rows = population.rows[train.indices]
            codes = np.asarray(train.labels).astype(np.int64)
            view = dataset.view(rows)
            seed = seed_of(0, experiment=name, repeat=int(point["train_repeat"])) % (1 << 32)
            folds = stratified_folds(codes, 5, seed=seed)
            learner = LogisticLearner()
            models = learner.learn(view, rows, codes, [{"C": 10.0}], folds, 2)
            X_train = view.transform(rows)
            quantifier = SubclassSLD(random_state=seed)
            division = quantifier.reduction(X_train, codes)
            quantifier.fit_items(
                Items(models.out_of_fold[0], features=division.training), codes, reduction=division
            )
            used, positions = np.unique(
                np.concatenate([draw.indices for draw in draws]), return_inverse=True
            )
            ends = np.cumsum([len(draw.indices) for draw in draws])[:-1]
            test_rows = population.rows[used]
            X = view.transform(test_rows)
            begun = time.perf_counter()
            tests = refutation_tests(
                quantifier,
                X_train,
                Items(
                    check_posteriors(models.posteriors(view, test_rows)[0], 2),
                    check_posteriors(models.committee(view, test_rows, 0), 2),
                    division(X),
                ),
                X,
                np.split(positions, ends),
                random_state=seed,
            )
            seconds = (time.perf_counter() - begun) / len(tests)
            for draw, test in zip(draws, tests, strict=True):
                yield {
                    "shift": kind_of(name, draw.coordinates),
                    "set": str(point),
                    **draw.coordinates,
                    "refuted": test.refuted,
                    "auc": test.auc,
                    "z": test.z,
                    "explained": test.explained,
                    "seconds": seconds,
                }


def chosen_points(experiment: Any, repeats: list[int]) -> list[Any]:
    """Training points with moderate prevalences and mixes, and the extremes of the latter."""
    wanted = {"p_train": (0.25, 0.3, 0.5, 0.7, 0.75), "alpha_train": (0.0, 0.3, 0.5, 1.0)}
    return [
        point
        for point in experiment.shift.training_points()
        if point["train_repeat"] in repeats
        and all(point.get(name, values[0]) in values for name, values in wanted.items())
    ]


def kind_of(name: str, point: Any) -> str:
    """The kind of shift of a sample."""
    if name != "covariate":
        return name
    unseen = (point["alpha_train"] == 0 and point["alpha_test"] > 0) or (
        point["alpha_train"] == 1 and point["alpha_test"] < 1
    )
    pure = point["p_train"] == point["p_test"]
    if unseen:
        apart = abs(point["alpha_test"] - point["alpha_train"]) >= 0.5
        return "category unseen, half or more" if apart else "category unseen, less"
    return "pure" if pure else "mixed"


def summarise(tests: pd.DataFrame, columns: list[str]) -> str:
    """Share of refutations with its clustered standard error."""
    lines = [
        f"{' '.join(f'{name:>30}' for name in columns)} {'refuted':>7} {'+-':>6} {'z > 3':>6} "
        f"{'mean z':>6} {'explained':>9} {'n':>6} {'sets':>5}"
    ]
    for key, part in tests.groupby(columns) if columns else [((), tests)]:
        refuted = part["refuted"].to_numpy().astype(float)
        lines.append(
            f"{' '.join(f'{value:>30}' for value in key)} {refuted.mean():7.3f} "
            f"{clustered_error(refuted, part['set'].to_numpy()):6.3f} "
            f"{(part['z'] > 3).mean():6.3f} {part['z'].mean():6.2f} "
            f"{part['explained'].mean():9.2f} {len(part):6d} "
            f"{part['set'].nunique():5d}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
