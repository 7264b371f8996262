"""A training set's tf-idf: `TfidfView` on term counts against `TfidfVectorizer` on texts.

    python benchmarks/tfidf_view.py [--small]

Both fit on 5,000 documents and transform a pool of 50,000, on one core; then the pool is scored
under k linear models, ours without building the tf-idf matrix. Compiled loops come from the cache
on disk.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer

from quantshift.base.seeding import generator
from quantshift.texts.counts import CountMatrix
from quantshift.texts.tfidf import TfidfView
from tokenise import read_texts

N_TRAIN, N_POOL, REPEATS = 5_000, 50_000, 7


def timed(function: Callable[[], Any], *, repeats: int = REPEATS) -> tuple[float, Any]:
    """Median milliseconds, and the result."""
    result = function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return 1000 * float(np.median(times)), result


def theirs(train: list[str], pool: list[str]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = TfidfVectorizer(min_df=3, sublinear_tf=True).fit(train).transform(pool)
    return 1000 * (time.perf_counter() - start), result


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a trial: a tenth of the documents")
    shrink = 10 if parser.parse_args().small else 1
    n_train, n_pool = N_TRAIN // shrink, N_POOL // shrink
    kind, texts = read_texts()
    texts = texts[: 2 * (n_train + n_pool)]
    counts = CountMatrix.from_texts(texts)
    rows = generator(0, what="benchmark").permutation(len(texts))[: n_train + n_pool]
    train, pool = rows[:n_train], rows[n_train:]

    fit_ms, view = timed(lambda: TfidfView.fit(counts, train))
    transform_ms, matrix = timed(lambda: view.transform(pool))
    whole_ms, _ = timed(lambda: TfidfView.fit(counts, train).transform(pool))
    sklearn_ms, expected = theirs([texts[i] for i in train], [texts[i] for i in pool])
    print(f"{kind}: {len(train):,} training documents, {len(view.columns):,} features, ", end="")
    print(f"a pool of {len(pool):,} documents, {matrix.nnz:,} entries")
    print(f"fit {fit_ms:.1f} ms, transform {transform_ms:.1f} ms, together {whole_ms:.1f} ms")
    print(f"scikit-learn on the texts: {sklearn_ms:.0f} ms; ", end="")
    print(f"quantshift is {sklearn_ms / whole_ms:.0f} times as fast, ", end="")
    print(f"largest difference {abs(matrix - csr_array(expected)).max():.1g}")

    rng = generator(1, what="benchmark")
    for n_models in (1, 10, 40):
        coef = rng.standard_normal((len(view.columns), n_models))
        intercept = rng.standard_normal(n_models)
        scores_ms, scores = timed(lambda c=coef, b=intercept: view.scores(pool, c, b))
        plain_ms, plain = timed(lambda c=coef, b=intercept: view.transform(pool) @ c + b)
        print(f"scores under {n_models} models: {scores_ms:.0f} ms; ", end="")
        print(f"through the tf-idf matrix {plain_ms:.0f} ms; ", end="")
        print(f"largest difference {np.abs(scores - plain).max():.1g}")


if __name__ == "__main__":
    main()
