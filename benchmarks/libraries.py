"""Aggregation compared with four other libraries: the same posteriors, the same samples, one core.

    pip install quapy==0.2.3 mlquantify==0.5.1 quantificationlib==0.1.2 quadprog cvxpy abstention
    pip install 'qunfold @ git+https://github.com/mirkobunse/qunfold'   # not the one on PyPI
    python benchmarks/libraries.py [--methods CC,HDy] [--classes 2] [--repeats 5]
        [--small]

Each library runs its own implementation of the methods it shares with quantshift, fitted once on
the posteriors of labelled items and then given one sample after the other, which is the only way to
call it. Those that want a classifier get one that returns the posteriors it is given. Ours is
called both ways: all samples in one call, and one by one. A library that is not installed, or
refuses a method for so many classes, is left out with a line that says why. Methods that use
features get ten columns instead of posteriors, and the time includes their classification.

Times are milliseconds of processor time of this process (all threads) per sample, which a busy
machine affects less than wall-clock time: the lowest of several repeats, in each of which all take
turns. Fitting is not counted. A slow library gets fewer samples, at least three: the first ones, in
random order. The last column is the largest difference between a library's estimates and ours, over
samples and classes, in brackets the mean and the number of samples; the reasons are in
docs/compared.md. At the end: how many times as fast as QuaPy each method is in one call, those
below 50 times, and those where another library is faster one by one.

The methods and how each peer is built are declared in `parts/library_methods.py`.
"""

import argparse
import math
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from parts.library_methods import LIBRARIES, METHODS, QUAPY, Estimator, Method
from quantshift.base.text_tables import Table, text_table
from quantshift.prevalence.simplex import uniform, whole_counts

SIZE, POOL, KNOWN, N_FEATURES = 500, 50_000, 5_000, 10
SECONDS = 0.25
"""Time of one contestant per repeat, unless `FEWEST` samples take longer."""
FEWEST = 3
AIM = 50
"""How many times as fast as QuaPy a method should be in one call."""
LONGEST = 10.0
"""Seconds of one call of ours above which it is not repeated."""


@dataclass(frozen=True)
class Samples:
    """The data that all libraries get: a pool, samples of it, and labelled items.

    known, pool: posteriors, or features.
    """

    known: np.ndarray
    codes: np.ndarray
    pool: np.ndarray
    index: np.ndarray


class Contestant:
    """A library's method that gets samples one by one."""

    def __init__(self, estimate: Estimator, samples: Samples) -> None:
        self.estimate = estimate
        self.samples = [samples.pool[rows] for rows in samples.index]
        self.p_hat = [estimate(self.samples[0])]  # the first call may compile or import
        if len(self.p_hat[0]) != len(np.unique(samples.codes)):
            raise ValueError(f"returns {len(self.p_hat[0])} shares")
        begun = time.process_time()
        self.p_hat += [estimate(sample) for sample in self.samples[1:FEWEST]]
        used = (time.process_time() - begun) / (FEWEST - 1)
        self.n_samples = min(len(self.samples), max(FEWEST, int(SECONDS / max(used, 1e-6))))
        self.least = math.inf

    def take_turn(self) -> None:
        chosen = self.samples[: self.n_samples]
        begun = time.process_time()
        self.p_hat = [self.estimate(sample) for sample in chosen]
        self.least = min(self.least, (time.process_time() - begun) / len(chosen))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--methods", help="names separated by commas (default: all)")
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument(
        "--samples", type=int, default=1050, help="with 2 classes, a multiple of 21"
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="a trial: four methods, few samples")
    options = parser.parse_args()
    if options.small:
        options.methods = options.methods or "CC,PACC,SLD,DyS"
        options.samples, options.repeats = 105, 1
    names = [method.name for method in METHODS]
    wanted = options.methods.split(",") if options.methods else names
    if unknown := sorted(set(wanted) - set(names)):
        parser.error(f"no method {', '.join(unknown)}; there are {', '.join(names)}")
    drawn = {
        from_features: draw(options.classes, options.samples, from_features=from_features)
        for from_features in (False, True)
    }
    rows, outcomes, skipped = [], {}, []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in METHODS:
            if method.name in wanted:
                row = compared(method, drawn[method.from_features], options.repeats, skipped)
                rows.append((method.name, *row.cells()))
                print(*rows[-1], sep=" | ", flush=True)
                outcomes[method.name] = row
    for line in skipped:
        print(line)
    title = (
        f"ms of processor time per sample of {SIZE}, {options.classes} classes, lowest of "
        f"{options.repeats}; {len(drawn[False].index)} samples in one call"
    )
    header = ("", "one call", "one by one", *map(with_version, LIBRARIES), "largest difference")
    print("\n" + text_table(Table(title, header, tuple(rows))))
    print(f"times {QUAPY} in one call: {listed(outcomes, Outcome.times_quapy)}")
    short = {n: outcome for n, outcome in outcomes.items() if (outcome.times_quapy() or AIM) < AIM}
    print(f"below {AIM} times {QUAPY} in one call: {listed(short, Outcome.times_quapy)}")
    behind = {n: outcome for n, outcome in outcomes.items() if (outcome.times_fastest() or 1) < 1}
    print(f"slower than a peer one by one: {listed(behind, Outcome.times_fastest)}")


def listed(outcomes: Mapping[str, "Outcome"], times: Callable[["Outcome"], float | None]) -> str:
    """Names with how many times as fast we are, the slowest first."""
    known = {name: times(each) for name, each in outcomes.items()}
    ordered = sorted((factor, name) for name, factor in known.items() if factor is not None)
    return ", ".join(f"{name} ({factor:.3g})" for factor, name in ordered) or "none"


@dataclass(frozen=True)
class Outcome:
    """Seconds per sample, and largest differences from ours."""

    one_call: float
    one_by_one: float
    peers: Mapping[str, float]
    gaps: Mapping[str, np.ndarray]

    def cells(self) -> tuple[str, ...]:
        return (
            milliseconds(self.one_call),
            milliseconds(self.one_by_one),
            *(milliseconds(self.peers[n]) if n in self.peers else "" for n in LIBRARIES),
            ", ".join(
                f"{name} {gap.max():.0e} ({gap.mean():.0e}; {len(gap)})"
                for name, gap in self.gaps.items()
            ),
        )

    def times_quapy(self) -> float | None:
        """How many times as fast we are in one call."""
        return self.peers[QUAPY] / self.one_call if QUAPY in self.peers else None

    def times_fastest(self) -> float | None:
        """How many times as fast as the fastest peer we are one by one."""
        return min(self.peers.values()) / self.one_by_one if self.peers else None


def milliseconds(seconds: float) -> str:
    """Three digits, but at most five decimals: the processor's clock ticks are not finer."""
    decimals = min(5, 2 - math.floor(math.log10(1e3 * seconds)))
    return f"{1e3 * seconds:.{max(decimals, 0)}f}"


def compared(method: Method, samples: Samples, repeats: int, skipped: list[str]) -> Outcome:
    estimate = ours(method, samples)
    alone = Contestant(estimate, samples)
    estimate(samples.pool, samples.index[:FEWEST])  # compiles the path for many samples
    begun = time.process_time()
    reference = estimate(samples.pool, samples.index)
    one_call = (time.process_time() - begun) / len(samples.index)
    others = {}
    for title, build in method.peers.items():
        try:
            others[title] = Contestant(build(samples.known, samples.codes), samples)
        except Exception as error:  # a library may raise anything; the others continue
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            skipped.append(f"{method.name}, {title}: left out ({why})")
    for _ in range(repeats):
        if one_call * len(samples.index) < LONGEST:
            begun = time.process_time()
            estimate(samples.pool, samples.index)
            one_call = min(one_call, (time.process_time() - begun) / len(samples.index))
        for contestant in (alone, *others.values()):
            contestant.take_turn()
    gaps = {
        title: np.abs(np.array(other.p_hat) - reference[: len(other.p_hat)]).max(axis=1)
        for title, other in others.items()
    }
    times = {title: other.least for title, other in others.items()}
    return Outcome(one_call, alone.least, times, gaps)


def ours(method: Method, samples: Samples) -> Any:
    """Our method, fitted: a function of one sample, or of a pool and samples of it."""
    quantifier: Any = method.ours()
    if method.from_features:
        return quantifier.fit(samples.known, samples.codes).predict
    return quantifier.fit_posteriors(samples.known, samples.codes).aggregate


def draw(n_classes: int, n_samples: int, *, from_features: bool = False) -> Samples:
    rng = np.random.default_rng(0)
    items = features if from_features else posteriors
    known, codes = items(rng, KNOWN, n_classes)
    pool, labels = items(rng, POOL, n_classes)
    members = [np.flatnonzero(labels == k) for k in range(n_classes)]
    index = [
        np.concatenate(
            [
                rng.choice(of_class, count, replace=False)
                for of_class, count in zip(members, whole_counts(p, SIZE), strict=True)
            ]
        )
        for p in prevalences(rng, n_classes, n_samples)
    ]
    # Random order, so that a library that gets only the first few gets all kinds.
    return Samples(known, codes, pool, rng.permutation(np.stack(index)))


def prevalences(rng: np.random.Generator, n_classes: int, n_samples: int) -> np.ndarray:
    """21 from 0 to 1 with two classes, uniform on the simplex with more."""
    if n_classes > 2:
        return uniform(n_samples, n_classes, rng)
    p = np.repeat(np.linspace(0, 1, 21), n_samples // 21)
    return np.column_stack([1 - p, p])


def posteriors(
    rng: np.random.Generator, n_items: int, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors, calibrated or nearly so; with two classes the accuracy is 83%."""
    y = rng.integers(0, n_classes, n_items)
    if n_classes == 2:
        p = 1 / (1 + np.exp(-1.2 * rng.normal(1.2 * (2 * y - 1), 1.3)))
        return np.column_stack([1 - p, p]), y
    odds = np.exp(2 * (rng.normal(size=(n_items, n_classes)) + 2 * np.eye(n_classes)[y]))
    return odds / odds.sum(axis=1, keepdims=True), y


def features(
    rng: np.random.Generator, n_items: int, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Columns between 0 and 1, as mlquantify expects; each class shifts one of them."""
    y = rng.integers(0, n_classes, n_items)
    X = rng.normal(size=(n_items, N_FEATURES))
    X[np.arange(n_items), y % N_FEATURES] += 1.5
    return 1 / (1 + np.exp(-X)), y


def with_version(title: str) -> str:
    try:
        return f"{title} {version(title)}"
    except PackageNotFoundError:
        return title


if __name__ == "__main__":
    main()
