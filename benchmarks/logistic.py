"""The batched logistic regression against scikit-learn's, on the two stages of one cell.

Selection: 3,000 documents, 12 settings x (all + 5 folds) = 72 problems. Final: 5,000 documents,
6 settings x (all + 5 folds) = 36 problems. One core for both. The documents are real reviews,
found through QUANTSHIFT_REVIEWS or in ../shared/data beside the repository; elsewhere a sparse
matrix with Zipf-like word frequencies stands in for them.

    python benchmarks/logistic.py [--prevalence 0.5] [--tol 1e-6] [--repeats 3]

Times are processor seconds of the one thread for both stages together, the best of the repeats, so
that other work on the machine disturbs little; compilation is not counted. The errors are the
largest differences of posteriors, over all items (held out or not), from a solution with a
gradient of 1e-10.
"""

import argparse
import gzip
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from quantshift.classify.folds import stratified_folds
from quantshift.classify.logistic import balanced_weights, fit_logistic
from quantshift.seeding import generator

GRID = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
SETTINGS = [(C, balanced) for C in GRID for balanced in (False, True)]
WINNERS = [(1.0, False), (10.0, False), (10.0, True), (100.0, False), (100.0, True), (1000.0, True)]
STAGES = [("selection", 3000, SETTINGS), ("final", 5000, WINNERS)]
SKLEARN_TOLS = (1e-4, 1e-6)
N_FOLDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--prevalence", type=float, nargs="+", default=[0.5, 0.02])
    parser.add_argument("--tol", type=float, nargs="+", default=[1e-4, 1e-6])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    texts = read_reviews()
    print("real reviews" if texts else "no reviews found: generated sparse data")
    with threadpool_limits(limits=1):
        for prevalence in options.prevalence:
            report(texts, prevalence, options.tol, options.repeats)


def report(
    texts: dict[bool, list[str]] | None, prevalence: float, tols: list[float], repeats: int
) -> None:
    print(f"\nprevalence {prevalence}")
    cases = []
    for name, n_items, settings in STAGES:
        X, codes = documents(texts, n_items, prevalence)
        C, weights = problems(codes, settings)
        exact = fit_logistic(X, codes, C, weights, tol=1e-10)
        if not exact.converged.all():
            raise RuntimeError("the reference solution has not converged")
        cases.append((X, codes, C, weights, exact.training_posteriors[..., 1]))
        size = f"{n_items} x {X.shape[1]}, {X.nnz / n_items:.0f} per row"
        print(f"  {name}: {size}, {len(C)} problems")
    heads = ["error: C<=1", "C=10", "C=100", "C=1000"]
    print(" " * 26 + f"{'seconds':>9}" + "".join(f"{head:>13}" for head in heads))
    ours = {tol: row(f"quantshift tol={tol:g}", cases, tol, fit_together, repeats) for tol in tols}
    theirs = {
        tol: row(f"scikit-learn tol={tol:g}", cases, tol, fit_singly, repeats)
        for tol in SKLEARN_TOLS
    }
    for tol, seconds in ours.items():
        ratios = ", ".join(f"{theirs[t] / seconds:.1f} (its tol={t:g})" for t in SKLEARN_TOLS)
        print(f"  scikit-learn / quantshift tol={tol:g}: {ratios}")


def row(label: str, cases: list[Any], tol: float, fit: Callable[..., Any], repeats: int) -> float:
    seconds, groups = 0.0, {1.0: 0.0, 10.0: 0.0, 100.0: 0.0, 1000.0: 0.0}
    for X, codes, C, weights, exact in cases:
        times = []
        for _ in range(repeats):
            start = time.thread_time()
            posteriors = fit(X, codes, C, weights, tol)
            times.append(time.thread_time() - start)
        seconds += min(times)
        for c, errors in zip(C, np.abs(posteriors - exact).max(axis=1), strict=True):
            groups[max(c, 1.0)] = max(groups[max(c, 1.0)], errors)
    print(f"  {label:24}{seconds:9.3f}" + "".join(f"{e:13.1e}" for e in groups.values()))
    return seconds


def fit_together(X: Any, codes: Any, C: Any, weights: Any, tol: float) -> Any:
    return fit_logistic(X, codes, C, weights, tol=tol).training_posteriors[..., 1]


def fit_singly(X: Any, codes: Any, C: Any, weights: Any, tol: float) -> Any:
    posteriors = []
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        for c, weight in zip(C, weights, strict=True):
            inside = np.flatnonzero(weight)
            model = LogisticRegression(C=c, tol=tol, max_iter=10_000)
            model.fit(X[inside], codes[inside], sample_weight=weight[inside])
            posteriors.append(model.predict_proba(X)[:, 1])
    return np.array(posteriors)


def problems(codes: Any, settings: list[tuple[float, bool]]) -> tuple[Any, Any]:
    folds = stratified_folds(codes, N_FOLDS, seed=0)
    C, weights = [], []
    for c, balanced in settings:
        for fold in range(-1, N_FOLDS):
            member = folds != fold
            C.append(c)
            weights.append(balanced_weights(codes, member) if balanced else member.astype(float))
    return np.array(C), np.array(weights)


def documents(
    texts: dict[bool, list[str]] | None, n_items: int, prevalence: float
) -> tuple[Any, Any]:
    rng = generator(0, benchmark="logistic", n_items=n_items, prevalence=prevalence)
    n_positive = round(n_items * prevalence)
    codes = rng.permutation(np.arange(n_items) < n_positive).astype(np.int64)
    if texts is None:
        return generated(codes, rng), codes
    order = {label: iter(rng.permutation(len(texts[label]))) for label in (False, True)}
    chosen = [texts[bool(code)][next(order[bool(code)])] for code in codes]
    return csr_array(TfidfVectorizer(min_df=3, sublinear_tf=True).fit_transform(chosen)), codes


def generated(codes: Any, rng: np.random.Generator) -> Any:
    """Rows of about 85 of 9,000 words, word k as frequent as 1 / (k + 10), some told by class."""
    n_words, frequency = 9000, 1 / (np.arange(9000) + 10)
    rows, columns = [], []
    for tilt in (-1, 1):
        share = frequency * np.exp(tilt * generator(0, benchmark="tilt").normal(0, 0.4, n_words))
        for i in np.flatnonzero(codes == (tilt + 1) // 2):
            words = np.unique(rng.choice(n_words, 130, p=share / share.sum()))
            rows.append(np.full(words.size, i))
            columns.append(words)
    row, column = np.concatenate(rows), np.concatenate(columns)
    idf = 1 + np.log(len(codes) / np.bincount(column, minlength=n_words).clip(1))
    X = csr_array((idf[column], (row, column)), shape=(len(codes), n_words))
    X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1)), np.diff(X.indptr))
    return X


def read_reviews() -> dict[bool, list[str]] | None:
    default = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("QUANTSHIFT_REVIEWS", default)) / "reviews"
    texts: dict[bool, list[str]] = {False: [], True: []}
    for path in sorted(folder.glob("*.txt.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                star, tab, text = line.partition("\t")
                if tab and star in "1245":
                    texts[int(star) > 3].append(text)
    return texts if texts[True] else None


if __name__ == "__main__":
    main()
