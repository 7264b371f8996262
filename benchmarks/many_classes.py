"""More than two classes: errors of matching, coverage of each interval and of all at once, time.

    python benchmarks/many_classes.py [--parts error,coverage,time] [--first-repeat 100]
        [--repeats 10] [--tables kept] [--methods PACC,DyS] [--replicates 200]

error: classes in a row on a line, each overlapping with its neighbours, 20,000 items; the error of
DyS and SMM compared with one class against the rest (the two-class method for each class, the
shares normalised).

coverage: 95% intervals of each class on its own and of all at once, and the share of samples in
which all classes are within theirs. Classes of at least 100 rows of real tables; training sets of
500 and 2,000 rows, samples of 30, 100 and 500 with prevalences drawn from a Dirichlet distribution
(.5). Samples for which the pool has too few items are not used. Standard errors are clustered by
training set. Tables in `real_tables.DEVELOPMENT` may choose constants; `kept` only reports.

time: seconds of an interval with 200 replicates for a sample of 500, by number of classes.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from coverage_tables import clustered_error
from parts.real_tables import draw, load, prior_shift_sample
from quantshift import PACC, SLD, DyS
from quantshift.base.seeding import generator
from quantshift.intervals.prediction import item_interval
from quantshift.quantifiers import SMM
from quantshift.quantifiers.base import catalogue
from quantshift.quantifying.training.classifiers import CLASSIFIERS
from quantshift.quantifying.training.learning import n_folds

TABLES = {
    "development": ("uci_image_seg", "uci_page_block"),
    "kept": ("student_grade", "uci_abalone", "uci_waveform-v1", "uci_yeast"),
}
TRAIN_SIZES, SAMPLE_SIZES = (500, 2000), (30, 100, 500)
LEVEL = 0.95


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", default="error,coverage,time")
    parser.add_argument("--tables", default="development", choices=list(TABLES))
    parser.add_argument("--methods", default="ACC,PACC,SMM,DyS,SLD")
    parser.add_argument("--first-repeat", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--samples", type=int, default=4, help="of each size and training set")
    parser.add_argument("--replicates", type=int, default=200)
    options = parser.parse_args()
    parts = {"error": errors, "coverage": coverage, "time": times}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name in options.parts.split(","):
            print(f"\n{name}")
            parts[name](options)


def in_a_row(
    n: int, p: np.ndarray, apart: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Exact posteriors, at equal shares, of classes in a row, and the classes."""
    y = rng.choice(len(p), n, p=p)
    distance = (rng.normal(apart * y))[:, np.newaxis] - apart * np.arange(len(p))
    density = np.exp(-(distance**2) / 2)
    return density / density.sum(axis=1, keepdims=True), y


def errors(options: Any) -> None:
    columns = ("PACC", "SMM", "SMM, rest", "DyS", "DyS, rest")
    print("classes  apart ", *(f"{name:>16}" for name in columns))
    for n_classes in (3, 5, 10):
        for apart in (1.5, 3.0):
            found: dict[str, list[float]] = {}
            for repeat in range(options.first_repeat, options.first_repeat + options.repeats):
                rng = generator(0, purpose="many classes", repeat=repeat, n=n_classes, apart=apart)
                equal = np.full(n_classes, 1 / n_classes)
                known, y = in_a_row(20_000, equal, apart, rng)
                p = rng.dirichlet(np.full(n_classes, 0.7))
                sample, _ = in_a_row(20_000, p, apart, rng)
                for method in (PACC, SMM, DyS):
                    p_hat = method().fit_posteriors(known, y).aggregate(sample)
                    found.setdefault(method.__name__, []).append(np.abs(p_hat - p).mean())
                for method in (SMM, DyS):
                    p_hat = against_the_rest(method, known, y, sample)
                    name = f"{method.__name__}, rest"
                    found.setdefault(name, []).append(np.abs(p_hat - p).mean())
            cells = [
                f"{np.mean(found[name]):.4f} +- {np.std(found[name]) / options.repeats**0.5:.4f}"
                for name in columns
            ]
            print(f"{n_classes:7d} {apart:6.1f} ", *(f"{cell:>16}" for cell in cells))


def against_the_rest(method: Any, known: np.ndarray, y: np.ndarray, sample: np.ndarray) -> Any:
    shares = [
        method()
        .fit_posteriors(np.stack([1 - known[:, k], known[:, k]], axis=1), y == k)
        .aggregate(np.stack([1 - sample[:, k], sample[:, k]], axis=1))[1]
        for k in range(known.shape[1])
    ]
    return np.array(shares) / sum(shares)


def coverage(options: Any) -> None:
    rows = pd.DataFrame(list(intervals(options)))
    for columns in (["method"], ["method", "size"], ["method", "n_train"], ["method", "table"]):
        print(f"\n{'':34} {'coverage':>15} {'rare':>15} {'width':>6} {'all at once':>15}", end="")
        print(f" {'simultaneous':>15} {'width':>6} {'n':>6}")
        for key, part in rows.groupby(columns):
            clusters = part["training_set"].to_numpy()
            rare = part[part["n_rare"] > 0]
            figures = (
                mean_and_error(part["covered"], clusters),
                mean_and_error(
                    rare["rare_covered"] / rare["n_rare"], rare["training_set"].to_numpy()
                ),
                f"{part['width'].mean():6.3f}",
                mean_and_error(part["all_covered"], clusters),
                mean_and_error(part["jointly_covered"], clusters),
                f"{part['joint_width'].mean():6.3f}",
                f"{len(part):6d}",
            )
            print(f"{'  '.join(map(str, key)):34}", *figures)


def mean_and_error(values: pd.Series, clusters: np.ndarray) -> str:
    numbers = values.to_numpy(dtype=float)
    return f"{numbers.mean():7.3f} +- {clustered_error(numbers, clusters):.3f}"


def intervals(options: Any) -> Iterator[dict[str, Any]]:
    """A row for every sample."""
    methods = [catalogue.quantifiers()[name] for name in options.methods.split(",")]
    for name in TABLES[options.tables]:
        table = load(name, binary=False)
        for n_train in TRAIN_SIZES:
            for repeat in range(options.first_repeat, options.first_repeat + options.repeats):
                data = draw(table, n_train, repeat=repeat)
                training_set = f"{name}/{n_train}/{repeat}"
                rng = generator(0, purpose="many classes", training_set=training_set)
                truth, rows = samples(data.y_pool, options.samples, rng)
                learner = CLASSIFIERS["logistic"](repeat)
                scorer = SLD(learner, cv=n_folds(data.y_train)).fit(data.X_train, data.y_train)
                pool = scorer.items(data.X_pool)
                for cls in methods:
                    fitted = cls().fit_posteriors(scorer.held_out_posteriors_, data.y_train)
                    alone, joint = (
                        item_interval(
                            fitted,
                            pool,
                            rows,
                            level=LEVEL,
                            n_bootstrap=options.replicates,
                            simultaneous=simultaneous,
                            random_state=repeat,
                        )
                        for simultaneous in (False, True)
                    )
                    within = (alone.low <= truth) & (truth <= alone.high)
                    jointly = (joint.low <= truth) & (truth <= joint.high)
                    rare = truth < 0.03
                    for i, row in enumerate(rows):
                        yield {
                            "table": name,
                            "n_train": n_train,
                            "training_set": training_set,
                            "method": cls.__name__,
                            "size": len(row),
                            "covered": within[i].mean(),
                            "n_rare": rare[i].sum(),
                            "rare_covered": (within & rare)[i].sum(),
                            "width": (alone.high - alone.low)[i].mean(),
                            "all_covered": within[i].all(),
                            "jointly_covered": jointly[i].all(),
                            "joint_width": (joint.high - joint.low)[i].mean(),
                        }


def samples(
    codes: np.ndarray, n_samples: int, rng: np.random.Generator
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Prevalences and positions of samples for which the pool has enough items of every class."""
    available = np.bincount(codes)
    truth, rows = [], []
    for size in SAMPLE_SIZES:
        for _ in range(n_samples):
            for _ in range(1000):
                p = rng.dirichlet(np.full(len(available), 0.5))
                if np.all(size * p + 3 * np.sqrt(size * p * (1 - p)) <= available):
                    truth.append(p)
                    rows.append(prior_shift_sample(codes, p, size, rng))
                    break
    return np.array(truth), rows


def times(options: Any) -> None:
    print("classes ", *(f"{name:>8}" for name in options.methods.split(",")))
    for n_classes in (2, 3, 10):
        rng = generator(0, purpose="many classes: time", n=n_classes)
        known, y = in_a_row(3000, np.full(n_classes, 1 / n_classes), 2.0, rng)
        sample, _ = in_a_row(500, rng.dirichlet(np.ones(n_classes)), 2.0, rng)
        seconds = []
        for name in options.methods.split(","):
            fitted = catalogue.quantifiers()[name]().fit_posteriors(known, y)
            fitted.aggregate_interval(sample, n_bootstrap=2)
            begun = time.perf_counter()
            fitted.aggregate_interval(sample, n_bootstrap=200)
            seconds.append(time.perf_counter() - begun)
        print(f"{n_classes:7d} ", *(f"{s:8.2f}" for s in seconds))


if __name__ == "__main__":
    main()
