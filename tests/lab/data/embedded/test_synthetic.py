"""The synthetic corpus: exact likelihoods, honest posteriors, the same documents every time."""

import hashlib
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

from quantshift.errors import DataError, UserError
from quantshift.lab.data import DataFolder
from quantshift.lab.data.embedded.synthetic import (
    MIN_WORDS,
    STAR_SHARES,
    SyntheticCorpus,
    SyntheticModel,
    default_model,
    generate,
    write_synthetic,
)
from tests.lab.data.made_reviews import texts_of

UNIFORM = np.full((2, 5), 0.1)


@pytest.fixture(scope="module")
def corpus() -> SyntheticCorpus:
    return generate(12_000, seed=3)


@pytest.fixture(scope="module")
def tiny() -> SyntheticModel:
    return SyntheticModel(
        vocabulary=("dull", "gripping", "sturdy"),
        frequencies=np.array([[0.5, 0.3, 0.2], [0.4, 0.1, 0.5]]),
        polarities=np.array([[-0.7, 0.9, 0.1], [-0.5, 0.0, 0.8]]),
        moods=np.array([-0.5, 1.5]),
        mood_shares=np.array([0.6, 0.4]),
    )


def brute_force_likelihood(model: SyntheticModel, words: list[int], a: int, star: int) -> float:
    total = 0.0
    for mood, share in zip(model.moods, model.mood_shares, strict=True):
        weights = [
            model.frequencies[a][w] * np.exp((star - 3 + mood) * model.polarities[a][w])
            for w in range(len(model.vocabulary))
        ]
        total += share * np.prod([weights[w] / sum(weights) for w in words])
    return total


def test_likelihood_is_the_sum_over_moods_of_products_over_words(
    tiny: SyntheticModel,
) -> None:
    documents = [[0, 0, 1], [2], [0, 1, 2, 2, 2], []]
    counts = csr_array([np.bincount(words, minlength=3) for words in map(np.intp, documents)])
    likelihoods = np.exp(tiny.log_likelihoods(counts))
    assert likelihoods.shape == (4, 2, 5)
    for (i, words), a, star in product(enumerate(documents), range(2), range(1, 6)):
        expected = brute_force_likelihood(tiny, words, a, star)
        assert likelihoods[i, a, star - 1] == pytest.approx(expected, rel=1e-12)


def test_likelihoods_of_all_documents_of_one_length_sum_to_one(tiny: SyntheticModel) -> None:
    sequences = list(product(range(3), repeat=4))
    counts = csr_array([np.bincount(words, minlength=3) for words in sequences])
    np.testing.assert_allclose(np.exp(tiny.log_likelihoods(counts)).sum(axis=0), 1, rtol=1e-12)


def test_star_posteriors_are_bayes_rule(tiny: SyntheticModel) -> None:
    prior = np.array([[0.05, 0.1, 0.15, 0.1, 0.2], [0.1, 0.05, 0.05, 0.15, 0.05]])
    words = [0, 1, 1, 2]
    counts = csr_array([np.bincount(words, minlength=3)])
    joint = [
        sum(prior[a, s - 1] * brute_force_likelihood(tiny, words, a, s) for a in range(2))
        for s in range(1, 6)
    ]
    posteriors = tiny.star_posteriors(counts, prior)
    np.testing.assert_allclose(posteriors[0], np.array(joint) / sum(joint), rtol=1e-12)


@pytest.mark.parametrize("cut_point", [1.5, 3, 4.5])
def test_positive_posteriors_follow_from_star_posteriors(
    tiny: SyntheticModel, cut_point: float
) -> None:
    counts = csr_array([[3, 0, 1], [0, 2, 2]])
    stars = np.arange(1, 6)
    posteriors = tiny.star_posteriors(counts, UNIFORM)
    above, below = posteriors[:, stars > cut_point], posteriors[:, stars < cut_point]
    expected = above.sum(axis=1) / (above.sum(axis=1) + below.sum(axis=1))
    np.testing.assert_allclose(
        tiny.positive_posteriors(counts, UNIFORM, cut_point), expected, rtol=1e-12
    )


def test_a_zero_row_of_the_prior_is_a_known_category(tiny: SyntheticModel) -> None:
    counts = csr_array([[1, 2, 0]])
    only_first = np.vstack([np.full(5, 0.2), np.zeros(5)])
    likelihoods = np.exp(tiny.log_likelihoods(counts))[0, 0]
    np.testing.assert_allclose(
        tiny.star_posteriors(counts, only_first)[0], likelihoods / likelihoods.sum(), rtol=1e-12
    )


@pytest.mark.parametrize("cut_point", [1.5, 3.0, 4.5])
def test_known_posteriors_are_calibrated(corpus: SyntheticCorpus, cut_point: float) -> None:
    kept = corpus.stars != cut_point
    positive = corpus.stars[kept] > cut_point
    posteriors = corpus.model.positive_posteriors(corpus.counts[kept], corpus.prior, cut_point)
    bins = np.digitize(posteriors, np.linspace(0.1, 0.9, 9))
    z_scores = []
    for b in range(10):
        inside = bins == b
        variance = (posteriors[inside] * (1 - posteriors[inside])).sum()
        z_scores.append((positive[inside].sum() - posteriors[inside].sum()) / np.sqrt(variance))
    # A sum of ten squared z-scores is chi-squared: 29.6 is its 0.999 quantile.
    assert np.square(z_scores).sum() < 29.6


def test_the_wrong_prior_is_not_calibrated(corpus: SyntheticCorpus) -> None:
    kept = corpus.stars != 3
    posteriors = corpus.model.positive_posteriors(corpus.counts[kept], UNIFORM, 3)
    bias = posteriors.mean() - (corpus.stars[kept] > 3).mean()
    assert bias < -0.03


def test_mean_posterior_is_an_unbiased_prevalence_estimate(corpus: SyntheticCorpus) -> None:
    kept = np.flatnonzero(corpus.stars != 3)
    posteriors = corpus.model.positive_posteriors(corpus.counts[kept], corpus.prior, 3)
    samples = np.arange(len(kept) // 100 * 100).reshape(-1, 100)
    errors = posteriors[samples].mean(axis=1) - (corpus.stars[kept][samples] > 3).mean(axis=1)
    assert abs(errors.mean()) < 3 * errors.std() / np.sqrt(len(errors))
    assert errors.std() < 0.05


def test_best_possible_accuracy_is_that_of_a_hard_but_feasible_task(
    corpus: SyntheticCorpus,
) -> None:
    kept = corpus.stars != 3
    positive = corpus.stars[kept] > 3
    decisions = corpus.model.positive_posteriors(corpus.counts[kept], UNIFORM, 3) > 0.5
    balanced = (decisions[positive].mean() + 1 - decisions[~positive].mean()) / 2
    assert 0.91 < balanced < 0.95


def test_star_shares_are_those_asked_for(corpus: SyntheticCorpus) -> None:
    for category, shares in enumerate(STAR_SHARES):
        stars = corpus.stars[corpus.categories == category]
        found = np.bincount(stars, minlength=6)[1:] / len(stars)
        deviation = np.sqrt(np.array(shares) * (1 - np.array(shares)) / len(stars))
        assert np.all(np.abs(found - shares) < 4 * deviation)
    assert abs((corpus.categories == 0).mean() - 0.5) < 4 * 0.5 / np.sqrt(corpus.n_documents)


def test_star_shares_may_be_given_for_both_or_for_each_category() -> None:
    extremes = generate(300, star_shares=[0.5, 0, 0, 0, 0.5])
    assert set(extremes.stars.tolist()) == {1, 5}
    apart = generate(300, star_shares=[[1, 0, 0, 0, 0], [0, 0, 1, 0, 0]])
    np.testing.assert_array_equal(apart.stars, np.where(apart.categories == 0, 1, 3))
    np.testing.assert_array_equal(apart.prior.sum(axis=1), [0.5, 0.5])


def test_words_occur_as_often_as_the_model_says() -> None:
    corpus = generate(4_000, star_shares=[0, 0, 1, 0, 0])
    for category in range(2):
        observed = corpus.counts[corpus.categories == category].sum(axis=0)
        expected = corpus.model.frequencies[category] * observed.sum()
        often = expected > 30
        z_scores = (observed - expected)[often] / np.sqrt(expected[often])
        assert abs(z_scores.std() - 1) < 0.15
        assert abs(z_scores.mean()) < 0.2


def test_same_seed_same_documents_for_ever() -> None:
    corpus = generate(50)
    digest = hashlib.sha256()
    for array in (corpus.counts.indptr, corpus.counts.indices, corpus.counts.data):
        digest.update(array.astype("<i4").tobytes())
    digest.update(corpus.stars.tobytes() + corpus.categories.tobytes())
    digest.update(corpus.text(49).encode())
    assert digest.hexdigest()[:16] == "8a87fb3b3fc07b0e"


def test_a_larger_corpus_extends_a_smaller_one(corpus: SyntheticCorpus) -> None:
    small = generate(200, seed=3)
    assert (small.counts != corpus.counts[:200]).nnz == 0
    np.testing.assert_array_equal(small.stars, corpus.stars[:200])
    np.testing.assert_array_equal(small.categories, corpus.categories[:200])
    assert small.texts() == corpus.texts(range(200))


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = generate(100)
    monkeypatch.setattr("quantshift.lab.data.embedded.synthetic._BLOCK", 7)
    np.testing.assert_array_equal(generate(100).tokens, whole.tokens)


def test_another_seed_gives_other_documents() -> None:
    assert generate(20, seed=1).texts() != generate(20, seed=2).texts()


def test_vocabulary_is_sorted_distinct_lower_case_and_long_enough() -> None:
    words = default_model().vocabulary
    assert list(words) == sorted(set(words))
    assert all(word.isascii() and word.isalpha() and word.islower() for word in words)
    assert min(map(len, words)) * MIN_WORDS + MIN_WORDS - 1 >= 200


def test_words_come_in_pairs_of_equal_frequency_and_opposite_polarity() -> None:
    model = default_model()
    columns = {word: column for column, word in enumerate(model.vocabulary)}
    order = np.lexsort(model.frequencies)
    first, second = order[::2], order[1::2]
    np.testing.assert_array_equal(model.frequencies[:, first], model.frequencies[:, second])
    lean = (model.polarities[:, first] + model.polarities[:, second]) / 2
    assert lean.min() >= 0
    assert lean.max() <= 0.01
    assert model.polarities[:, columns["excellent"]].min() > 0.2
    assert model.polarities[:, columns["terrible"]].max() < -0.2


@pytest.mark.parametrize(
    ("praise", "blame", "owner"), [("gripping", "predictable", 0), ("reliable", "broken", 1)]
)
def test_own_sentiment_words_belong_to_their_category(praise: str, blame: str, owner: int) -> None:
    model = default_model()
    for word, sign in ((praise, 1), (blame, -1)):
        column = model.vocabulary.index(word)
        assert sign * model.polarities[owner, column] > 0.2
        assert model.frequencies[owner, column] > 5 * model.frequencies[1 - owner, column]


def test_polarities_agree_in_part_between_the_categories() -> None:
    first, second = default_model().polarities
    assert abs(np.corrcoef(first, second)[0, 1] - 0.5) < 0.05


def test_texts_tokenise_back_to_the_counts() -> None:
    corpus = generate(300, seed=5)
    texts = corpus.texts()
    assert min(map(len, texts)) >= 200
    vectorizer = CountVectorizer()
    found = vectorizer.fit_transform(texts)
    words = vectorizer.get_feature_names_out()
    columns = np.searchsorted(corpus.vocabulary, words)
    assert [corpus.vocabulary[c] for c in columns] == words.tolist()
    assert (found != corpus.counts[:, columns]).nnz == 0
    assert corpus.counts.sum() == found.sum()


def test_counts_are_canonical() -> None:
    counts = generate(100).counts
    assert counts.dtype == np.int32
    assert counts.has_canonical_format
    assert counts.sum(axis=1).min() >= MIN_WORDS


def test_written_corpus_holds_the_same_documents(tmp_path: Path) -> None:
    write_synthetic(tmp_path / "demo", n_documents=150, seed=9)
    on_disk, in_memory = DataFolder.open(tmp_path / "demo"), generate(150, seed=9)
    on_disk.verify()
    categories = np.array(in_memory.category_names)[in_memory.categories]
    np.testing.assert_array_equal(on_disk.dataset().labels, in_memory.stars)
    np.testing.assert_array_equal(on_disk.dataset().categories, categories)
    assert texts_of(on_disk) == in_memory.texts()
    assert on_disk.manifest["synthetic"] == {"documents": 150, "seed": 9}


def test_an_existing_corpus_is_not_overwritten(tmp_path: Path) -> None:
    write_synthetic(tmp_path / "demo", n_documents=10)
    with pytest.raises(UserError, match="already holds a data set"):
        write_synthetic(tmp_path / "demo", n_documents=20)
    assert DataFolder.open(tmp_path / "demo").manifest["items"] == 10


@pytest.mark.parametrize("n_documents", [10**12, 10**18])
def test_a_corpus_that_memory_cannot_hold_is_refused(n_documents: int, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"needs about [\d,]+ GB of memory, this machine") as told:
        write_synthetic(tmp_path / "c", n_documents=n_documents)
    assert told.value.arguments == ("documents",)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("n_documents", [0, -5])
def test_no_documents_is_an_error(n_documents: int, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"at least 1 document, got n_documents={n_documents}"):
        generate(n_documents)
    with pytest.raises(UserError, match="at least 1 document"):
        write_synthetic(tmp_path / "none", n_documents=n_documents)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("star_shares", "message"),
    [
        ([0.5, 0.5], "shape"),
        ([0.5, 0.5, 0.5, 0, 0], "sum to 1"),
        ([-0.5, 0.5, 0.5, 0.5, 0], "non-negative"),
    ],
)
def test_bad_star_shares_are_an_error(star_shares: list[float], message: str) -> None:
    with pytest.raises(DataError, match=message):
        generate(10, star_shares=star_shares)


def test_misfitting_arguments_of_the_posteriors_are_errors(tiny: SyntheticModel) -> None:
    counts = csr_array([[1, 0, 2]])
    with pytest.raises(DataError, match="2 columns, the model 3 words"):
        tiny.log_likelihoods(counts[:, :2])
    with pytest.raises(DataError, match="shape"):
        tiny.star_posteriors(counts, np.full(5, 0.2))
    with pytest.raises(DataError, match="sum to 1"):
        tiny.star_posteriors(counts, np.full((2, 5), 0.2))
    with pytest.raises(UserError, match="leaves one class empty"):
        tiny.positive_posteriors(counts, UNIFORM, 5)
