"""Aggregation beside four other libraries: the same posteriors, the same samples, one core.

    pip install quapy==0.2.3 mlquantify==0.5.1 quantificationlib==0.1.2
    pip install 'qunfold @ git+https://github.com/mirkobunse/qunfold'   # another on the registry
    python benchmarks/libraries.py

Each library runs its own implementation of the methods it shares with quantshift, fitted once on
the posteriors of labelled items and then asked for one sample after the other, which is the only
way it can be asked. Those that want a classifier get one that hands on the posteriors it is given.
Ours is asked both ways: all samples in one call, and one by one. A library that is not installed
is skipped with a line.

Times are processor time of this process (all threads), so that a busy machine spoils them less
than it would a clock's; fitting is not counted. The difference is the largest and the mean one
between a library's estimates of the positive class and ours; the reasons are in docs/compared.md.
"""

import argparse
import importlib
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from threadpoolctl import threadpool_limits

from quantshift import ACC, CC, PACC, PCC, SLD, SMM, AbstractQuantifier, DyS, HDy
from quantshift.tables import Table, text_table

SIZE, POOL, KNOWN, BINS = 500, 50_000, 5_000, 10
HDY_BINS = tuple(range(10, 111, 10))

Estimator = Callable[[np.ndarray], float]
"""From the posteriors of a sample to the share of class 1."""

OURS: Mapping[str, AbstractQuantifier] = {
    "CC": CC(),
    "ACC": ACC(),
    "PCC": PCC(),
    "PACC": PACC(),
    "SMM": SMM(),
    "DyS": DyS(n_bins=BINS, divergence="topsoe"),
    "DyS-HD": DyS(n_bins=BINS, divergence="hellinger"),
    "HDy": HDy(),
    "SLD": SLD(calibration="none"),
}


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose features are its posteriors."""

    oob_score = True  # what qunfold asks for before it reads `oob_decision_function_`

    def fit(self, X: Any, y: Any) -> "Given":
        self.classes_ = np.unique(y)
        self.oob_decision_function_ = np.asarray(X)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.asarray(X)

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(self.classes_[np.argmax(X, axis=1)])


def quapy(known: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, Estimator]]:
    from quapy.method import aggregative

    given: dict[str, Any] = {"classifier": Given().fit(known, y), "fit_classifier": False}
    learnt = {**given, "val_split": None}
    dys: dict[str, Any] = {**learnt, "n_bins": BINS}
    emq = aggregative.EMQ(**given)
    emq.train_prevalence = np.bincount(y) / len(y)
    methods: dict[str, Any] = {
        "CC": aggregative.CC(**given),
        "ACC": aggregative.ACC(**learnt),
        "PCC": aggregative.PCC(**given),
        "PACC": aggregative.PACC(**learnt),
        "SMM": aggregative.SMM(**learnt),
        "DyS": aggregative.DyS(**dys, divergence="topsoe"),
        "DyS-HD": aggregative.DyS(**dys, divergence="HD"),
        "HDy": aggregative.HDy(**learnt),
        "SLD": emq,
    }
    for name, method in methods.items():
        crisp = name in ("CC", "ACC")
        method.aggregation_fit(known.argmax(axis=1) if crisp else known, y)
        yield name, aggregated(method, crisp=crisp)


def aggregated(method: Any, *, crisp: bool = False) -> Estimator:
    def share(sample: np.ndarray) -> float:
        return float(method.aggregate(sample.argmax(axis=1) if crisp else sample)[1])

    return share


def mlquantify(known: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, Estimator]]:
    from mlquantify import counting, likelihood, matching

    methods: dict[str, Any] = {
        "CC": counting.CC(Given()),
        "ACC": counting.ACC(Given()),
        "PCC": counting.PCC(Given()),
        "PACC": counting.GPACC(Given()),
        "SMM": matching.SMM(Given()),
        "DyS": matching.DyS(Given(), bins_size=BINS),
        "DyS-HD": matching.DyS(Given(), bins_size=BINS, distance="hellinger"),
        "HDy": matching.HDy(Given(), bins_size=list(HDY_BINS)),
        "SLD": likelihood.EMQ(Given()),
    }
    for name, method in methods.items():
        method.fit(known, y)
        yield name, lambda sample, method=method: float(method.predict(sample)[1])


def quantificationlib(known: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, Estimator]]:
    from quantificationlib.baselines import ac, cc
    from quantificationlib.metrics.multiclass import topsoe
    from quantificationlib.multiclass import df, em

    methods: dict[str, Any] = {
        "CC": cc.CC(),
        "ACC": ac.AC(),
        "PCC": cc.PCC(),
        "PACC": ac.PAC(),
        "DyS": df.DFy(n_bins=BINS, distance=topsoe),
        "DyS-HD": df.HDy(n_bins=BINS),
        "SLD": em.EM(),
    }
    for name, method in methods.items():
        method.fit(None, y, predictions_train=known)
        yield name, lambda sample, method=method: float(method.predict(None, sample)[1])


def qunfold(known: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, Estimator]]:
    # The package of that name on the registry is another one (unfolding by quantum annealing).
    methods = importlib.import_module("qunfold.methods.linear")
    likelihood = importlib.import_module("qunfold.methods.likelihood")
    given = Given().fit(known, y)
    for name, method in {
        "ACC": methods.ACC(given, fit_classifier=False, seed=0),
        "PACC": methods.PACC(given, fit_classifier=False, seed=0),
        "SLD": likelihood.LikelihoodMaximizer(given, fit_classifier=False, seed=0),
    }.items():
        method.fit(known, y)
        yield name, lambda sample, method=method: float(method.predict(sample)[1])


LIBRARIES = {
    "QuaPy": quapy,
    "mlquantify": mlquantify,
    "quantificationlib": quantificationlib,
    "qunfold": qunfold,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--samples", type=int, default=1050, help="a multiple of 21")
    parser.add_argument("--every", type=int, default=5, help="others get every so many of them")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    known, y = posteriors(rng, KNOWN)
    pool, labels = posteriors(rng, POOL)
    index = draw_samples(rng, labels, options.samples)
    some = index[:: options.every]
    times: dict[str, dict[str, str]] = {}
    gaps: dict[str, dict[str, str]] = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        times["ours, one call"], reference = in_one_call(known, y, pool, index)
        expected = {name: p_hat[:: options.every] for name, p_hat in reference.items()}
        alone = ((name, aggregated(quantifier)) for name, quantifier in OURS.items())
        times["ours, one by one"], _ = compared(alone, pool, some, expected)
        for title, library in LIBRARIES.items():
            try:
                found = compared(library(known, y), pool, some, expected)
            except ImportError as error:
                print(f"{title}: skipped ({error})")
                continue
            times[with_version(title)], gaps[with_version(title)] = found
    print(f"{len(index)} samples of {SIZE} in our one call, {len(some)} of them one by one")
    print_table("ms of processor time per sample", times)
    print_table("difference from ours: largest (mean)", gaps)


def in_one_call(
    known: np.ndarray, y: np.ndarray, pool: np.ndarray, index: np.ndarray, *, rounds: int = 5
) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """Milliseconds per sample of ours with all samples in one call, and our estimates."""
    times, estimates = {}, {}
    for name, quantifier in OURS.items():
        quantifier.fit_posteriors(known, y)
        estimates[name] = quantifier.aggregate(pool, index)[:, 1]
        begun = time.process_time()
        for _ in range(rounds):
            quantifier.aggregate(pool, index)
        times[name] = f"{1e3 * (time.process_time() - begun) / rounds / len(index):.4f}"
    return times, estimates


def compared(
    methods: Iterable[tuple[str, Estimator]],
    pool: np.ndarray,
    index: np.ndarray,
    reference: Mapping[str, np.ndarray],
) -> tuple[dict[str, str], dict[str, str]]:
    """Milliseconds per sample of each method, asked one by one, and its distance from ours."""
    times, gaps = {}, {}
    for name, estimate in methods:
        estimate(pool[index[0]])  # the first call may compile or import
        begun = time.process_time()
        p_hat = np.array([estimate(pool[row]) for row in index])
        times[name] = f"{1e3 * (time.process_time() - begun) / len(index):.3f}"
        gap = np.abs(p_hat - reference[name])
        gaps[name] = f"{gap.max():.0e} ({gap.mean():.0e})"
    return times, gaps


def print_table(title: str, columns: Mapping[str, Mapping[str, str]]) -> None:
    rows = [(name, *(cells.get(name, "") for cells in columns.values())) for name in OURS]
    print("\n" + text_table(Table(title, ("", *columns), tuple(rows))))


def posteriors(rng: np.random.Generator, n_items: int) -> tuple[np.ndarray, np.ndarray]:
    """Calibrated or nearly so, of a classifier that is right on 83 % of the items."""
    y = rng.integers(0, 2, n_items)
    p = 1 / (1 + np.exp(-1.2 * rng.normal(1.2 * (2 * y - 1), 1.3)))
    return np.column_stack([1 - p, p]), y


def draw_samples(rng: np.random.Generator, labels: np.ndarray, n_samples: int) -> np.ndarray:
    """Samples at 21 prevalences from 0 to 1."""
    members = [np.flatnonzero(labels == code) for code in (0, 1)]
    rows = []
    for p in np.linspace(0, 1, 21):
        for _ in range(n_samples // 21):
            counts = SIZE - round(p * SIZE), round(p * SIZE)
            parts = [rng.choice(m, c, replace=False) for m, c in zip(members, counts, strict=True)]
            rows.append(np.concatenate(parts))
    return np.stack(rows)


def with_version(title: str) -> str:
    try:
        return f"{title} {version(title)}"
    except PackageNotFoundError:
        return title


if __name__ == "__main__":
    main()
