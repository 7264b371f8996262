"""Several labels at once: time beside one binary method per label, and memory with many labels.

    python benchmarks/multilabel_speed.py [--labels 100] [--items 10000] [--samples 500]
        [--rounds 3]
    python benchmarks/multilabel_speed.py --memory SET [--rows 0] [--regress] [--intervals]

The first call generates items whose labels depend on ten hidden topics, fits one logistic
regression per label, which all methods share, and times fitting and aggregating samples of 100 from
the same posteriors; the median of --rounds times counts. SLD as a user would call it for a single
label, classifier included, is timed on a few labels. Times are those of the processor, so that
other programs do not count.

--memory: the peak memory of fitting TiltedLabelSets on a set of Mulan with all of its labels
(`parts/mulan_sets.py`) and estimating 500 random samples; --rows: on this many training rows, 0 for
all. With --regress a ridge regression of the indicators stands in for the classifiers. With
--intervals the intervals of all labels in a sample of 100 follow. Each step prints the peak so far.
"""

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from parts.mulan_sets import SIZE, load
from quantshift import PACC, PCC, SLD
from quantshift.base.seeding import generator
from quantshift.base.types import Flags, Indices, Posteriors, Reals
from quantshift.multilabel import RegressedShares, TiltedLabelSets, natural_samples
from quantshift.multilabel.label_intervals import aggregate_label_intervals
from quantshift.multilabel.label_models import LabelFolds, fit_label_models, with_absence
from quantshift.multilabel.label_tables import FEWEST

N_TOPICS, N_FEATURES, N_POOL = 10, 20, 5000
WHOLE = 5
"""Labels that SLD is fitted on by itself, with its own classifier."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", metavar="SET")
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--regress", action="store_true")
    parser.add_argument("--intervals", action="store_true")
    arguments = parser.parse_args()
    with threadpool_limits(1):
        if arguments.memory:
            memory(
                arguments.memory,
                arguments.rows,
                regress=arguments.regress,
                with_intervals=arguments.intervals,
            )
        else:
            speed(arguments.items, arguments.labels, arguments.samples, arguments.rounds)


def generated(n_items: int, n_labels: int) -> tuple[Reals, Flags]:
    """Items with topics; every label is more likely for some of the topics."""
    rng = generator(0, data="topics", labels=n_labels)
    loadings = rng.standard_normal((N_TOPICS, n_labels))
    places = rng.standard_normal((N_TOPICS, N_FEATURES))
    topics = rng.standard_normal((n_items, N_TOPICS))
    has = rng.random((n_items, n_labels)) < expit(topics @ loadings - 2)
    return topics @ places + rng.standard_normal((n_items, N_FEATURES)), has


def speed(n_items: int, n_labels: int, n_samples: int, n_rounds: int) -> None:
    X, has = generated(n_items + N_POOL, n_labels)
    _compile(X[:500], has[:500])
    start = time.process_time()
    models, held_out = fit_label_models(None, X[:n_items], has[:n_items], LabelFolds(5, 0))
    classifiers = time.process_time() - start
    print(_line("classifiers of all labels", classifiers, n_labels), flush=True)
    pool = models.posteriors(X[n_items:])
    index = natural_samples(N_POOL, SIZE, n_samples)
    start = time.process_time()
    for has_label in has[:n_items, :WHOLE].T:
        SLD().fit(X[:n_items], has_label).predict(X[n_items:], index)
    whole = time.process_time() - start
    print(_line(f"SLD().fit and predict, {WHOLE} labels", whole, WHOLE), flush=True)
    methods: dict[str, Callable[[], Any]] = {
        f"{type(q).__name__} for each label": _by_label(q, held_out, has[:n_items], pool, index)
        for q in (PCC(), PACC(), SLD())
    }
    methods |= {
        type(q).__name__: _together(q, held_out, has[:n_items], pool, index)
        for q in (RegressedShares(), TiltedLabelSets())
    }
    for name, run in methods.items():
        seconds = []
        for _ in range(n_rounds):
            start = time.process_time()
            run()
            seconds.append(time.process_time() - start)
        print(_line(name, float(np.median(seconds)), n_labels), flush=True)


def _compile(X: Reals, has: Flags) -> None:
    """Run everything once on few items, before anything is timed."""
    few = natural_samples(len(X), SIZE, 2)
    for quantifier in (TiltedLabelSets(), RegressedShares()):
        quantifier.fit(X, has[:, :2]).predict(X, few)
    for single in (PCC(), PACC(), SLD()):
        single.fit(X, has[:, 0]).predict(X, few)


def _line(name: str, seconds: float, n_labels: int) -> str:
    return f"{name:<36}{seconds:8.2f} s {1000 * seconds / n_labels:8.1f} ms per label"


def _by_label(
    quantifier: Any, held_out: Posteriors, has: Flags, pool: Posteriors, index: Indices
) -> Callable[[], Any]:
    def run() -> None:
        for j, has_label in enumerate(has.T):
            quantifier.fit_posteriors(with_absence(held_out[:, j]), has_label)
            quantifier.aggregate(with_absence(pool[:, j]), index)

    return run


def _together(
    quantifier: Any, held_out: Posteriors, has: Flags, pool: Posteriors, index: Indices
) -> Callable[[], Any]:
    return lambda: quantifier.fit_posteriors(held_out, has).aggregate(pool, index)


def memory(name: str, n_rows: int, *, regress: bool, with_intervals: bool) -> None:
    problem = load(name, most_labels=None)
    X, labels = problem.X, problem.labels
    if n_rows:
        X, labels = X[:n_rows], labels.take(np.arange(n_rows))
        counts = labels.has.sum(axis=0)
        labels = type(labels)(labels.has[:, counts >= FEWEST], labels.names[counts >= FEWEST])
    steps = _Steps()
    steps.say(
        f"{name}: {X.shape[0]:,} rows, {X.shape[1]:,} features, {len(labels.names):,} labels read"
    )
    quantifier = TiltedLabelSets()
    if regress:
        held_out, pool = _regressed(X, labels.has, problem.X_test)
        steps.say("regressed")
        quantifier.fit_posteriors(held_out, labels.has)
    else:
        pool = quantifier.fit(X, labels.has).posteriors(problem.X_test)
    steps.say("fitted")
    index = natural_samples(len(problem.labels_test), SIZE, 500)
    quantifier.aggregate(pool, index)
    steps.say(f"{len(index)} samples of {SIZE} estimated")
    if with_intervals:
        found = aggregate_label_intervals(quantifier, pool[index[0]])
        width = float((found.high - found.low).mean())
        steps.say(f"intervals of one sample, {width:.3f} wide on average")


class _Steps:
    """Prints what was done, with the processor time since the last step, and the peak so far."""

    def __init__(self) -> None:
        self.start = 0.0

    def say(self, what: str) -> None:
        now = time.process_time()
        print(f"{what}: {now - self.start:.0f} s, peak {_peak():,.0f} MB", flush=True)
        self.start = now


def _regressed(X: Any, has: Flags, X_test: Any) -> tuple[Posteriors, Posteriors]:
    """Rough posteriors of all labels at once: two halves for training items, all for the others."""
    fold = np.arange(len(has)) % 2
    held_out = np.empty(has.shape)
    for half in (0, 1):
        model = Ridge().fit(X[fold != half].toarray(), has[fold != half])
        held_out[fold == half] = model.predict(X[fold == half].toarray())
    pool = Ridge().fit(X.toarray(), has).predict(X_test.toarray())
    return np.clip(held_out, 0.001, 0.999), np.clip(pool, 0.001, 0.999)


def _peak() -> float:
    """The largest memory of this process so far, in MB (Linux counts in kB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
