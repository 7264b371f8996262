"""Methods for ordered classes: how much smoothing to use, and how much it gains.

    python -m benchmarks.ordinal                  # Friedman's problem: chooses the defaults
    python -m benchmarks.ordinal --table uci_abalone --table student_grade    # reports on others

Friedman's first function with noise 1, cut into 10 equal bins; a random forest; samples of 1,000
with uniform prevalences (APP) and the smoothest fifth of them by |C p|^2 (APP-OQ). Tables: classes
are the label's values in order (abalone: rings in 7 groups of similar size). Prints the mean
normalised match distance, times 1e4, and its Monte Carlo error over samples of one training set.
"""

import argparse

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestClassifier

from benchmarks.parts.real_tables import LabelledTable, draw, load
from quantshift import ACC, CC, PACC, SLD, OrdinalSLD, metrics
from quantshift.base.seeding import generator
from quantshift.classify.classifier import cross_fit, fit_classifier, predict_posteriors
from quantshift.classify.folds import stratified_folds
from quantshift.optimise.smoothness import second_differences
from quantshift.prevalence import simplex
from quantshift.quantifiers import IBU, RUN, OrdinalACC, OrdinalLikelihood, OrdinalPACC

METHODS = {
    "CC": CC(),
    "ACC": ACC(),
    "PACC": PACC(),
    "SLD": SLD(),
    **{f"OrdinalACC tau={tau:g}": OrdinalACC(tau=tau) for tau in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)},
    **{f"OrdinalPACC tau={tau:g}": OrdinalPACC(tau=tau) for tau in (1e-2, 1e-3, 1e-4, 1e-5)},
    **{
        f"OrdinalSLD order={order} smoothing={part:g}": OrdinalSLD(order=order, smoothing=part)
        for order in (0, 1)
        for part in (0.1, 0.01, 0.001)
    },
    **{
        f"OrdinalLikelihood tau_1={tau:g}": OrdinalLikelihood(tau_1=tau)
        for tau in (1e-1, 1e-2, 1e-3)
    },
    **{
        f"IBU order={order} smoothing={part:g}": IBU(order=order, smoothing=part)
        for order in (0, 1)
        for part in (0.1, 0.01, 0.001)
    },
    **{f"RUN tau={tau:g}": RUN(tau=tau) for tau in (1e-1, 1e-2, 1e-3, 1e-4)},
    **{f"RUN tau=0.01, {n} cells": RUN(tau=0.01, n_cells=n) for n in (40, 160)},
}


def friedman(n_train: int, n_pool: int, seed: int) -> tuple[NDArray, ...]:
    """Training items and a pool, 10 ordered classes."""
    X, target = make_friedman1(n_train + n_pool, n_features=10, noise=1.0, random_state=seed)
    edges = np.linspace(-0.523, 30.054, 11)[1:-1]
    y = np.searchsorted(edges, target)
    return X[:n_train], y[:n_train], X[n_train:], y[n_train:]


def table(name: str) -> tuple[NDArray, ...]:
    """Training items and a pool of a table whose label is ordered."""
    labelled = load(name, binary=False, fewest=1)
    codes = labelled.codes
    if name == "uci_abalone":
        edges = np.unique(np.quantile(codes, np.arange(1, 8) / 8))
        codes = np.unique(np.searchsorted(edges, codes), return_inverse=True)[1]
    drawn = draw(LabelledTable(name, labelled.columns, codes), len(codes) // 2, repeat=0)
    return drawn.X_train, drawn.y_train, drawn.X_pool, drawn.y_pool


def samples(codes: NDArray, n: int, size: int, *, smooth: bool) -> tuple[NDArray, NDArray]:
    """Prevalences and positions of samples of the pool."""
    n_classes = int(codes.max()) + 1
    rng = generator(0, purpose="ordinal benchmark", smooth=smooth)
    p = simplex.uniform(5 * n if smooth else n, n_classes, rng)
    if smooth:
        rough = ((p @ second_differences(n_classes).T) ** 2).sum(axis=1)
        p = p[np.argsort(rough)[:n]]
    members = [np.flatnonzero(codes == k) for k in range(n_classes)]
    rows = []
    for shares in p:
        counts = simplex.whole_counts(shares, size)
        parts = [m[rng.integers(len(m), size=c)] for m, c in zip(members, counts, strict=True)]
        rows.append(np.concatenate(parts))
    index = np.array(rows)
    return np.eye(n_classes)[codes[index]].mean(axis=1), index


def compare(name: str, data: tuple[NDArray, ...], n_samples: int, size: int) -> None:
    """Print the errors of all methods."""
    X, y, X_pool, y_pool = data
    classes = np.arange(int(y.max()) + 1)
    forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0)
    held_out, _ = cross_fit(forest, X, y, classes, stratified_folds(y, 5, seed=0))
    pool = predict_posteriors(fit_classifier(forest, X, y), X_pool, classes)
    drawn = [samples(y_pool, n_samples, size, smooth=smooth) for smooth in (False, True)]
    print(f"{name}: {len(y)} training items, {len(classes)} classes; 1e4 NMD, APP and APP-OQ")
    for method, quantifier in METHODS.items():
        quantifier.fit_posteriors(held_out, y)
        cells = []
        for p, index in drawn:
            error = 1e4 * metrics.nmd(p, quantifier.aggregate(pool, index))
            cells.append(f"{error.mean():6.1f} ± {error.std() / np.sqrt(len(error)):.1f}")
        print(f"{method:35} {'   '.join(cells)}")


def main() -> None:
    """Compare on Friedman's problem, or on the tables that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="append", default=[])
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--train", type=int, default=5000)
    options = parser.parse_args()
    for name in options.table:
        compare(name, table(name), options.samples, 500)
    if not options.table:
        compare("friedman", friedman(options.train, 20_000, 1), options.samples, 1000)


if __name__ == "__main__":
    main()
