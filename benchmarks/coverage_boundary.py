"""Coverage of 95% intervals where nearly all items are of one class.

    python benchmarks/coverage_boundary.py [--methods SLD,SubclassSLD] [--repeats 20] [--size 300]

Two normal classes 3.5 standard deviations apart (a classifier is right on 96%), 1,000 training
items half of each, 20 folds, samples at true prevalences of 99.5, 95, 50 and 0.5%. Each repeat is a
training set with 20 samples; the standard error of the coverage is clustered by training set. The
last column is the narrowest interval, which is never narrower than if the labels were known.
"""

import argparse
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from quantshift import predict_interval
from quantshift.base.seeding import generator
from quantshift.quantifiers.base import catalogue

SAMPLES, TRAINING, GAP = 20, 1000, 3.5
PREVALENCES = (0.995, 0.95, 0.5, 0.005)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--methods", default="SLD,SubclassSLD")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--size", type=int, default=300)
    parser.add_argument("--bootstrap", type=int, default=500)
    options = parser.parse_args()
    print(f"{'method':12} {'p':>6} {'coverage':>8} {'error':>6} {'width':>7} {'narrowest':>9}")
    with threadpool_limits(1):
        for method in options.methods.split(","):
            for p in PREVALENCES:
                covered, width = coverage(method, p, options)
                by_training = covered.mean(axis=1)
                error = by_training.std(ddof=1) / np.sqrt(len(by_training))
                print(
                    f"{method:12} {p:6.3f} {covered.mean():8.3f} {error:6.3f} "
                    f"{width.mean():7.4f} {width.min():7.4f}",
                    flush=True,
                )


def coverage(method: str, p: float, options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Which intervals hold the prevalence, and how wide they are, (n_repeats, n_samples)."""
    covered, width = np.empty((2, options.repeats, SAMPLES))
    for repeat in range(options.repeats):
        rng = generator(0, purpose="coverage at the boundary", repeat=repeat)
        X, y = draw(TRAINING, 0.5, rng)
        quantifier = catalogue.quantifiers()[method](LogisticRegression(), cv=20).fit(X, y)
        pool = np.vstack([draw(options.size, p, rng)[0] for _ in range(SAMPLES)])
        rows = np.arange(len(pool)).reshape(SAMPLES, -1)
        found = predict_interval(quantifier, pool, rows, n_bootstrap=options.bootstrap, seed=repeat)
        low, high = found.low[:, 1], found.high[:, 1]
        covered[repeat], width[repeat] = (low <= p) & (p <= high), high - low
    return covered, width


def draw(n: int, p: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = (rng.random(n) < p).astype(np.int64)
    X = rng.normal(size=(n, 2))
    X[:, 0] += GAP * y
    return X, y


if __name__ == "__main__":
    main()
