"""One prior cell and one covariate cell against the same work written with QuaPy.

    python benchmarks/cell_vs_quapy.py [--reviews DIR] [--train-size 5000] [--test-repeats 50]
        [--small]

Both do what the paper does: six methods (CC, ACC, PCC, PACC, DyS, SLD), 12 settings of a logistic
regression each, chosen on 110 validation samples, the winner refitted on the whole training set,
and the same test samples (the indices are ours). Ours is `run_cell` on imported reviews, in one
thread of one process. QuaPy's is written as its users write it: a TfidfVectorizer for the training
set, a GridSearchQ for each method, a loop over the samples, n_jobs=2.

The errors differ where the classifiers do. QuaPy's users take scikit-learn's default tolerance
(1e-4), which at C = 1000 stops far from the optimum; on PCC, which uses the posteriors as they are,
that shows (with tol=1e-8 scikit-learn's posteriors give our error). Validation splits differ, too.
The standard error is of the mean difference over the test samples of one training set.

Not counted: importing the reviews (once for all cells; benchmarks/tokenise.py) on our
side, reading texts on QuaPy's, compilation and imports on both. The machine must be idle. The
reviews are read from the folder named by QUANTSHIFT_REVIEWS; without --reviews they are imported
into a temporary folder. Without them the texts are synthetic ones. --small is a trial that takes a
minute: fewer documents, samples and settings.
"""

import argparse
import tempfile
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import quapy as qp
from quapy.data import LabelledCollection
from quapy.method import aggregative
from quapy.model_selection import GridSearchQ
from quapy.protocol import APP
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from parts.real_reviews import make_reviews
from quantshift.lab.data import DataFolder, Dataset
from quantshift.lab.experiments.cell import run_cell
from quantshift.lab.experiments.documents.experiment import Experiment
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.planning import cells_of
from quantshift.lab.experiments.population import Population, population_of

PER_TRAINING_ITEM = 24
"""Synthetic reviews for each item of the training set: half of the covariate experiment's items are
negative reviews of one category, and half of the reviews are held back for tests."""

METHODS = ("CC", "ACC", "PCC", "PACC", "DyS", "SLD")
N_JOBS = 2
CELLS: dict[str, dict[str, float | int]] = {
    "prior": {"p_train": 0.5, "train_repeat": 0},
    "covariate": {"p_train": 0.5, "alpha_train": 0.5, "train_repeat": 0},
}


@dataclass(frozen=True)
class Problem:
    experiment: Experiment
    coordinates: Mapping[str, float | int]
    texts: pl.Series
    dataset: Dataset
    population: Population


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--reviews", type=Path, help="imported ones (default: made for this)")
    parser.add_argument("--train-size", type=int)
    parser.add_argument("--test-repeats", type=int)
    parser.add_argument("--small", action="store_true", help="a trial")
    parser.add_argument("--repeats", type=int, default=3, help="of our cell; the best counts")
    options = parser.parse_args()
    train_size = options.train_size or (500 if options.small else 5000)
    test_repeats = options.test_repeats or (2 if options.small else 50)
    with tempfile.TemporaryDirectory() as scratch:
        data = (
            DataFolder.open(options.reviews)
            if options.reviews
            else made_for(Path(scratch), train_size)
        )
        dataset, texts = data.dataset(), pl.read_parquet(data.path / "texts.parquet")["text"]
        for name in CELLS:
            overrides = {
                "quantifiers": list(METHODS),
                "shift.train_size": train_size,
                "shift.test_repeats": test_repeats,
            }
            experiment = load_experiment(name, overrides=overrides)
            population = population_of(experiment, dataset)
            problem = Problem(experiment, CELLS[name], texts, dataset, population)
            report(problem, options.repeats, small=options.small)


def made_for(scratch: Path, train_size: int) -> DataFolder:
    """Reviews from which training sets of this size can be drawn from one category."""
    return make_reviews(scratch / "reviews", max(PER_TRAINING_ITEM * train_size, 20_000))


def report(problem: Problem, repeats: int, *, small: bool) -> None:
    ours, seconds = best_of(problem, repeats)
    begun = time.perf_counter()
    theirs, vectorising = with_quapy(problem, small=small)
    quapy_seconds = time.perf_counter() - begun
    samples = ours.filter(pl.col("method") == "CC")
    print(f"\n{problem.experiment.name} {dict(problem.coordinates)}: {len(samples)} test samples")
    print(f"  quantshift, 1 thread     {seconds:8.2f} s")
    print(f"  QuaPy, n_jobs={N_JOBS}          {quapy_seconds:8.2f} s (tf-idf {vectorising:.1f} s)")
    print(f"  ratio                    {quapy_seconds / seconds:8.1f}")
    p_true = samples["p_true"].list.last().to_numpy()
    print(f"  {'MAE':<8}{'quantshift':>12}{'QuaPy':>12}{'standard error':>17}")
    for method in METHODS:
        ae = np.abs(
            ours.filter(pl.col("method") == method)["p_hat"].list.last().to_numpy() - p_true
        )
        other = np.abs(theirs[method] - p_true)
        error = np.std(ae - other) / np.sqrt(len(ae))
        print(f"  {method:<8}{ae.mean():>12.4f}{other.mean():>12.4f}{error:>17.4f}")


def best_of(problem: Problem, repeats: int) -> tuple[pl.DataFrame, float]:
    everything = cells_of(problem.experiment.name, problem.dataset.name, problem.experiment.shift)
    cell = next(cell for cell in everything if cell.coordinates == problem.coordinates)
    times = []
    with threadpool_limits(limits=1):
        # The first run compiles (or loads the cache) and is not timed.
        for _ in range(repeats + 1):
            begun = time.perf_counter()
            rows = run_cell(
                problem.experiment,
                cell,
                problem.experiment.methods,
                problem.dataset,
                problem.population,
            )
            times.append(time.perf_counter() - begun)
    return rows, min(times[1:])


def with_quapy(problem: Problem, *, small: bool) -> tuple[dict[str, np.ndarray], float]:
    """Estimates of every method on the same test samples, and the seconds of tf-idf."""
    population = problem.population
    columns = (population.labels, population.categories)
    train = population.protocol.training_set(
        problem.coordinates, *columns, pool=population.train_pool
    )
    draws = list(
        population.protocol.samples(*columns, pool=population.test_pool, train=train.coordinates)
    )
    used = np.unique(np.concatenate([draw.indices for draw in draws]))
    train_texts = problem.texts[population.rows[train.indices]].to_list()
    test_texts = problem.texts[population.rows[used]].to_list()
    begun = time.perf_counter()
    vectoriser = TfidfVectorizer(min_df=3, sublinear_tf=True)
    X = vectoriser.fit_transform(train_texts)
    pool = vectoriser.transform(test_texts)
    vectorising = time.perf_counter() - begun
    qp.environ["SAMPLE_SIZE"] = len(draws[0].indices)
    part, validation = LabelledCollection(X, train.labels).split_stratified(0.6, random_state=0)
    protocol = APP(validation, n_prevalences=11, repeats=10, random_state=0)
    positions = [np.searchsorted(used, draw.indices) for draw in draws]
    estimates = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name in METHODS:
            model, prefix = quapy_model(name)
            grid: dict[str, list[Any]] = {
                f"{prefix}C": [1.0, 10.0] if small else [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0],
                f"{prefix}class_weight": ["balanced", None],
            }
            search = GridSearchQ(model, grid, protocol, error="mae", refit=True, n_jobs=N_JOBS)
            search.fit(*part.Xy)
            estimates[name] = np.array([search.predict(pool[index])[1] for index in positions])
    return estimates, vectorising


def quapy_model(name: str) -> tuple[Any, str]:
    """The unfitted method, and the prefix of its classifier's parameters."""
    classifier = LogisticRegression(max_iter=1000)
    if name == "SLD":
        return aggregative.EMQ(CalibratedClassifierCV(classifier)), "classifier__estimator__"
    if name == "DyS":
        return aggregative.DyS(classifier, n_bins=10, divergence="topsoe"), "classifier__"
    return getattr(aggregative, name)(classifier), "classifier__"


if __name__ == "__main__":
    main()
