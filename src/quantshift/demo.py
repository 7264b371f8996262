"""The main job in small: nine quantifiers, every kind of shift, on the embedded corpus.

For each kind of shift a few training sets are drawn from the synthetic reviews, every quantifier is
fitted on each, and its estimates of many test samples are compared with the truth.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from quantshift import catalogue
from quantshift.corpora import synthetic
from quantshift.corpora.binarise import binarise
from quantshift.evaluation import evaluate_draws
from quantshift.features.counts import CountMatrix
from quantshift.features.tfidf import TfidfView
from quantshift.shifts.concept import ConceptShift
from quantshift.shifts.covariate import CovariateShift
from quantshift.shifts.local import LocalCovariateShift
from quantshift.shifts.prior import PriorShift
from quantshift.shifts.sampling import TrainTest

N_DOCUMENTS = 20_000
CUT_POINT = 3.0
SIZES: dict[str, Any] = {
    "train_size": 1500,
    "test_size": 300,
    "train_repeats": 1,
    "test_repeats": 10,
}
KINDS = ("prior", "covariate (pure)", "covariate (mixed)", "local", "local's control", "concept")


def run_demo(report: Callable[[int, int], None] | None = None) -> pl.DataFrame:
    """Mean absolute errors: a row per method, a column per kind of shift.

    `report` is told how many of how many steps are done.
    """
    corpus = synthetic.generate(N_DOCUMENTS)
    counts = CountMatrix.from_csr(corpus.counts, corpus.vocabulary)
    pairs = list(_training_and_test_draws(corpus))
    methods = catalogue.quantifiers()
    frames = []
    for step, (kind, documents, pair) in enumerate(pairs):
        view = TfidfView.fit(counts, documents[pair.train.indices])
        X = view.transform(documents)
        for number, (name, cls) in enumerate(methods.items()):
            quantifier = cls()
            if cls.uses_classifier:
                quantifier.set_params(classifier=LogisticRegression(max_iter=1000))
            quantifier.fit(X[pair.train.indices], pair.train.labels)
            frame = evaluate_draws(quantifier, pair.tests, X, measures=["ae"])
            frames.append(frame.select(pl.lit(name).alias("method"), _kind(kind, frame), "ae"))
            if report:
                report(step * len(methods) + number + 1, len(pairs) * len(methods))
    table = pl.concat(frames).pivot("kind", index="method", values="ae", aggregate_function="mean")
    return table.select("method", *KINDS)


def _training_and_test_draws(
    corpus: synthetic.SyntheticCorpus,
) -> Iterator[tuple[str, NDArray[np.int64], TrainTest]]:
    """Yields (kind, documents that the draws' indices refer to, draws)."""
    labels, kept = binarise(corpus.stars, CUT_POINT)
    categories = corpus.categories[kept]
    prior = PriorShift(train_prevalences=(0.1, 0.5, 0.9), **SIZES)
    covariate = CovariateShift(train_alphas=(0.2, 0.8), train_prevalences=(0.5,), **SIZES)
    local = LocalCovariateShift(with_control=True, **SIZES)
    for pair in prior.train_test(labels):
        yield "prior", kept, pair
    for pair in covariate.train_test(labels, categories):
        yield "covariate", kept, pair
    for pair in local.train_test(labels, categories):
        yield "local", kept, pair
    for pair in ConceptShift(train_cuts=(2.5, 3.5), **SIZES).train_test(corpus.stars):
        yield "concept", np.arange(corpus.n_documents), pair


def _kind(kind: str, frame: pl.DataFrame) -> pl.Expr:
    """Splits covariate shift into pure and mixed, and local shift from its control."""
    if kind == "covariate":
        pure = pl.col("p_train") == pl.col("p_test")
        choice = pl.when(pure).then(pl.lit(KINDS[1])).otherwise(pl.lit(KINDS[2]))
    elif kind == "local":
        choice = pl.when("control").then(pl.lit(KINDS[4])).otherwise(pl.lit(KINDS[3]))
    else:
        choice = pl.lit(kind)
    return choice.alias("kind")
