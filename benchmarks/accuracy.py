"""The classifier's accuracy on samples without labels: errors and coverage on real tables.

    python -m benchmarks.accuracy [--tables development|kept] [--repeats 3] [--samples 4]

Training sets of 1,000 rows (two classes), logistic regression out of fold, SLD's prevalence;
samples of 200 at prevalences of .1, .3, .5, .7, .9 (prior shift). The truth is the classifier's
accuracy on the items of the sample. Prints the mean absolute error of LEAP, ATC and DoC, and of
taking the accuracy in training, and the coverage of the 95% intervals, with standard errors
clustered by training set.
"""

import argparse

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.parts.real_tables import DEVELOPMENT, KEPT_ASIDE, draw, load, prior_shift_sample
from quantshift import SLD
from quantshift.base.seeding import generator
from quantshift.measuring.accuracy import METHODS, accuracies


def main() -> None:
    """Print a row per table and one for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default="development", choices=("development", "kept"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--samples", type=int, default=4, help="of each prevalence")
    options = parser.parse_args()
    names = DEVELOPMENT if options.tables == "development" else KEPT_ASIDE
    every = []
    for name in names:
        table = load(name)
        clusters = [
            measured(draw(table, 1000, repeat=repeat), options.samples, repeat)
            for repeat in range(options.repeats)
        ]
        show(name, clusters)
        every += clusters
    show("all", every)


def measured(drawn, n_samples: int, repeat: int) -> np.ndarray:
    """Means over samples: errors of the methods and of training, then coverages."""
    quantifier = SLD(LogisticRegression(max_iter=1000)).fit(drawn.X_train, drawn.y_train)
    items = quantifier.items(drawn.X_pool)
    rng = generator(0, purpose="accuracy benchmark", repeat=repeat)
    rows = []
    for p in np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], n_samples):
        size = 200
        while True:
            try:
                rows.append(prior_shift_sample(drawn.y_pool, np.array([1 - p, p]), size, rng))
                break
            except ValueError:  # the pool has too few of a class
                size //= 2
    right = items.posteriors.argmax(axis=1) == drawn.y_pool
    truth = np.array([right[row].mean() for row in rows])
    errors, covered = [], []
    for method in METHODS:
        found = accuracies(quantifier, items, rows, method=method)
        errors.append(np.abs(found.accuracy - truth).mean())
        covered.append(((found.low <= truth) & (truth <= found.high)).mean())
    errors.append(np.abs(found.training - truth).mean())
    return np.array(errors + covered)


def show(name: str, clusters: list) -> None:
    """Means over training sets and their standard errors."""
    mean = np.mean(clusters, axis=0)
    error = np.std(clusters, axis=0, ddof=1) / np.sqrt(len(clusters))
    labels = [*METHODS, "training", *(f"{m} covers" for m in METHODS)]
    cells = (f"{a} {m:.3f}±{e:.3f}" for a, m, e in zip(labels, mean, error, strict=True))
    print(f"{name:24}", "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
