"""PrevalenceSearchCV against QuaPy's GridSearchQ: the same candidates, part and samples.

    python benchmarks/selection.py [--items 4000] [--problems 5] [--small]

Every problem is a table of two classes, 60% to fit on and 40% to choose by, with 110 samples of 100
items, given to both. A grid has 12 settings of scikit-learn's logistic regression and, for some
methods, options of their own. Both are run in one process and thread. QuaPy's methods hold items
out by folds of their own, so that the errors of a candidate differ a little: the last column is
how much worse, on our samples, the candidate that QuaPy has chosen is.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import quapy as qp
from quapy.method import aggregative
from quapy.model_selection import GridSearchQ
from quapy.protocol import AbstractProtocol as QuapyProtocol
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit
from threadpoolctl import threadpool_limits

from quantshift import ACC, PACC, PCC, SLD, PrevalenceSearchCV, PriorShift

GRID = {
    "classifier__C": [0.0001, 0.001, 0.01, 0.1, 1.0, 10.0],
    "classifier__class_weight": ["balanced", None],
}
METHODS: dict[str, tuple[Any, Any]] = {
    "PCC": (PCC, aggregative.PCC),
    "ACC": (ACC, aggregative.ACC),
    "PACC": (PACC, aggregative.PACC),
    "SLD": (partial(SLD, calibration="none"), aggregative.EMQ),
}


class Given(QuapyProtocol):
    """Given samples, for QuaPy."""

    def __init__(self, samples: list[tuple[np.ndarray, np.ndarray]]) -> None:
        self.samples = samples

    def __call__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return iter(self.samples)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--items", type=int, default=4000)
    parser.add_argument("--problems", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="a trial")
    options = parser.parse_args()
    n_items, n_problems = (600, 1) if options.small else (options.items, options.problems)
    print(f"{'':<8}{'ours':>8}{'QuaPy':>8}{'ratio':>8}{'same winner':>14}{'QuaPy is worse by':>20}")
    with threadpool_limits(limits=1):
        for name in METHODS:
            found = [compared(name, n_items, seed) for seed in range(n_problems)]
            ours, theirs, same, worse = (np.array(column) for column in zip(*found, strict=True))
            print(
                f"{name:<8}{ours.sum():>7.2f}s{theirs.sum():>7.2f}s"
                f"{theirs.sum() / ours.sum():>8.1f}{f'{same.sum()} of {len(same)}':>14}"
                f"{worse.mean():>20.5f}"
            )


def compared(name: str, n_items: int, seed: int) -> tuple[float, float, bool, float]:
    """Seconds of ours and of QuaPy's, whether they choose the same, and by how much it is worse."""
    X, y = make_classification(n_items, 20, n_informative=4, flip_y=0.15, random_state=seed)
    held = np.arange(n_items) % 5 < 2
    protocol = PriorShift(
        test_size=100, test_repeats=10, test_prevalences=np.linspace(0, 1, 11), seed=seed
    )
    ours_class, quapy_class = METHODS[name]
    search = PrevalenceSearchCV(
        ours_class(LogisticRegression(max_iter=1000)),
        GRID,
        protocol=protocol,
        cv=PredefinedSplit(np.where(held, 0, -1)),
        refit=False,
    )
    begun = time.perf_counter()
    search.fit(X, y)
    seconds = time.perf_counter() - begun
    samples = [
        (X[held][draw.indices], draw.true_prevalence([0, 1])) for draw in protocol.samples(y[held])
    ]
    qp.environ["SAMPLE_SIZE"] = 100
    rival = GridSearchQ(
        quapy_class(LogisticRegression(max_iter=1000)), GRID, Given(samples), error="mae",
        refit=False, n_jobs=1,
    )  # fmt: skip
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about iterations, for each sample
        rival.fit(X[~held], y[~held])
    quapy_seconds = time.perf_counter() - begun
    chosen = {key: rival.best_params_[key] for key in GRID}
    errors = search.cv_results_
    of_theirs = next(
        errors["mean_test_error"][i]
        for i in range(errors.height)
        if all(errors[f"param_{key}"][i] == chosen[key] for key in GRID)
    )
    same = chosen == search.best_params_
    return seconds, quapy_seconds, same, of_theirs - search.best_error_


if __name__ == "__main__":
    main()
