import numpy as np
import pytest

from quantshift.base.seeding import generator
from quantshift.errors import DataError, UserError
from quantshift.texts.counts import CountMatrix
from quantshift.texts.tfidf import TfidfView

TEXTS = ["good good film", "bad film", "good book", "unseen words only", ""]


def random_counts(n_documents: int, n_words: int, *, seed: int) -> CountMatrix:
    rng = generator(seed, what="counts")
    frequent = rng.random(n_words) ** 3
    texts = [
        " ".join(
            f"w{word}"
            for word in np.flatnonzero(rng.random(n_words) < frequent)
            for _ in range(rng.geometric(0.5))
        )
        for _ in range(n_documents)
    ]
    return CountMatrix.from_texts(texts)


def test_by_hand() -> None:
    view = TfidfView.fit(CountMatrix.from_texts(TEXTS), [0, 1, 2], min_df=2)
    idf = np.log(4 / 3) + 1
    assert view.feature_names.tolist() == ["film", "good"]
    np.testing.assert_allclose(view.idf, [idf, idf], rtol=1e-14)
    tf = 1 + np.log(2)
    norm = np.hypot(1, tf)
    np.testing.assert_allclose(
        view.transform(range(5)).toarray(),
        [[1 / norm, tf / norm], [1, 0], [0, 1], [0, 0], [0, 0]],
        rtol=1e-14,
    )


def test_a_row_given_twice_counts_twice() -> None:
    counts = CountMatrix.from_texts(TEXTS)
    once = TfidfView.fit(counts, [0, 1], min_df=1)
    twice = TfidfView.fit(counts, [1, 0, 1], min_df=1)
    assert once.feature_names.tolist() == twice.feature_names.tolist() == ["bad", "film", "good"]
    np.testing.assert_allclose(twice.idf, np.log(4 / np.array([3, 4, 2])) + 1, rtol=1e-14)


def test_columns_are_those_of_the_counts() -> None:
    counts = CountMatrix.from_texts(TEXTS)
    view = TfidfView.fit(counts, [0, 2], min_df=2)
    assert counts.vocabulary.take(view.columns).to_pylist() == view.feature_names.tolist()
    assert view.feature_names.tolist() == ["good"]


@pytest.mark.parametrize("n_models", [1, 2, 7, 40])
def test_scores_are_the_plain_products(n_models: int) -> None:
    counts = random_counts(200, 300, seed=1)
    view = TfidfView.fit(counts, np.arange(0, 200, 2))
    rng = generator(2, what="models")
    coef = 10 * rng.standard_normal((len(view.columns), n_models))
    intercept = rng.standard_normal(n_models)
    rows = rng.permutation(200)[:150]
    plain = view.transform(rows) @ coef + intercept
    scores = view.scores(rows, coef, intercept)
    assert scores.shape == (150, n_models)
    np.testing.assert_allclose(scores, plain, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(view.scores(rows, np.asfortranarray(coef), intercept), scores)


def test_a_score_depends_on_its_document_and_model_alone() -> None:
    counts = random_counts(60, 100, seed=3)
    view = TfidfView.fit(counts, np.arange(60))
    rng = generator(4, what="models")
    coef, intercept = rng.standard_normal((len(view.columns), 13)), rng.standard_normal(13)
    together = view.scores(np.arange(60), coef, intercept)
    for k in (0, 5, 12):
        alone = view.scores([31, 7], coef[:, [k]], intercept[[k]])
        np.testing.assert_array_equal(alone[:, 0], together[[31, 7], k])


def test_documents_without_known_words_score_the_intercept() -> None:
    view = TfidfView.fit(CountMatrix.from_texts(TEXTS), [0, 1, 2], min_df=2)
    scores = view.scores([3, 4], np.ones((2, 3)), [0.5, -1.0, 2.0])
    assert scores.tolist() == [[0.5, -1.0, 2.0]] * 2


def test_frequencies_beyond_the_table() -> None:
    counts = CountMatrix.from_texts(["yes no", "yes " * 3000 + "no", "yes " * 70_000 + "no"])
    view = TfidfView.fit(counts, [0, 1, 2])
    ratio = view.transform([0, 1, 2]).toarray()
    np.testing.assert_allclose(ratio[:, 1] / ratio[:, 0], 1 + np.log([1, 3000, 70_000]), rtol=1e-14)


def test_no_rows_give_no_rows() -> None:
    view = TfidfView.fit(CountMatrix.from_texts(TEXTS), [0, 1, 2], min_df=2)
    assert view.transform([]).shape == (0, 2)
    assert view.scores([], np.ones((2, 3)), np.zeros(3)).shape == (0, 3)


def test_min_df_too_large() -> None:
    counts = CountMatrix.from_texts(TEXTS)
    with pytest.raises(DataError, match="no word occurs in 3 of the 3 training documents; lower"):
        TfidfView.fit(counts, [0, 1, 2])
    with pytest.raises(DataError, match="no word occurs in 1 of the 1 training documents"):
        TfidfView.fit(counts, [4], min_df=1)


def test_min_df_below_one() -> None:
    with pytest.raises(UserError, match="min_df must be at least 1, got 0"):
        TfidfView.fit(CountMatrix.from_texts(TEXTS), [0], min_df=0)


def test_no_training_documents() -> None:
    with pytest.raises(DataError, match="no training documents"):
        TfidfView.fit(CountMatrix.from_texts(TEXTS), [])


def test_rows_out_of_range() -> None:
    counts = CountMatrix.from_texts(TEXTS)
    view = TfidfView.fit(counts, [0, 1, 2], min_df=1)
    with pytest.raises(DataError, match="row 5 is outside the counts of 5 documents"):
        TfidfView.fit(counts, [0, 5], min_df=1)
    with pytest.raises(DataError, match="row -1 is outside"):
        view.transform([-1])
    with pytest.raises(DataError, match="row 9 is outside"):
        view.scores([9], np.ones((len(view.columns), 1)), [0.0])


@pytest.mark.parametrize(
    ("coef", "intercept"),
    [
        (np.ones(2), [0.0]),
        (np.ones((3, 1)), [0.0]),
        (np.ones((2, 2)), [0.0]),
        (np.ones((2, 1)), 0.0),
    ],
)
def test_models_that_do_not_fit(coef: np.ndarray, intercept: object) -> None:
    view = TfidfView.fit(CountMatrix.from_texts(TEXTS), [0, 1, 2], min_df=2)
    with pytest.raises(DataError, match="do not fit 2 features"):
        view.scores([0], coef, intercept)  # type: ignore[arg-type]
