"""Clusters of the feature space."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from quantshift.classify.clusters.clusters import Clusters, Projection, Standardisation
from quantshift.classify.clusters.fitting import fit_clusters, fit_groups
from quantshift.classify.features import feature_matrix
from quantshift.errors import DataError, UserError
from quantshift.lab.data.embedded.synthetic import generate


def bags_of_words(n: int, seed: int, *, topics: tuple[int, ...] = (0, 1)) -> tuple:
    """Documents of 30 words over 120, each topic with its own 40 and 40 in common."""
    rng = np.random.default_rng(seed)
    topic = rng.choice(topics, n)
    rows = np.zeros((n, 160))
    for document, t in enumerate(topic):
        own = rng.integers(40, size=15) + 40 * t
        common = rng.integers(40, size=15) + 120
        np.add.at(rows[document], np.concatenate([own, common]), 1.0)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), topic


def test_clusters_find_the_topics_and_place_new_items() -> None:
    X, topic = bags_of_words(400, 0)
    partition, known = fit_clusters(csr_array(X), n_clusters=2, n_components=5, seed=0)
    assert isinstance(partition.embedding, Projection)
    agreement = np.mean(known.codes == topic)
    assert max(agreement, 1 - agreement) > 0.98
    X_new, topic_new = bags_of_words(200, 1)
    new = partition.locate(csr_array(X_new))
    assert np.mean((new.codes == topic_new) == (agreement > 0.5)) > 0.98
    # Dense or sparse, alone or together: an item's place is its own.
    assert_allclose(partition.locate(X_new[:7]).novelty, new.novelty[:7], atol=1e-12)


def test_leave_one_out_novelty_of_training_items_is_that_of_new_ones() -> None:
    X, _ = bags_of_words(400, 0)
    partition, known = fit_clusters(X, n_clusters=2, n_components=20, seed=0)
    new = partition.locate(bags_of_words(2000, 1)[0])
    _, inside = partition.embedding(X)
    error = new.novelty.std() / np.sqrt(400)
    assert known.novelty.mean() == pytest.approx(0.5)
    # Held out from four fifths of the items they are a little more novel than from all.
    assert -0.06 < new.novelty.mean() - known.novelty.mean() < 3 * error
    uncorrected = np.searchsorted(partition.lengths, inside) / len(inside)
    assert new.novelty.mean() - uncorrected.mean() > 10 * error


def test_narrow_training_items_are_placed_as_if_they_were_new() -> None:
    # Twenty columns of pure noise, the worst case: centres fit the noise of their own items, which
    # look less novel for it. What is left starts from centres that have seen all items.
    novelty, uncorrected, shares = [], [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, X_new = rng.normal(size=(2, 400, 20))
        partition, known = fit_clusters(X, n_clusters=4, n_components=20, seed=0)
        new = partition.locate(X_new)
        novelty.append(new.novelty.mean() - known.novelty.mean())
        uncorrected.append(new.novelty.mean() - partition.locate(X).novelty.mean())
        shares.append(np.bincount(new.codes, minlength=4) - np.bincount(known.codes, minlength=4))
    assert abs(np.mean(novelty)) < 0.6 * np.mean(uncorrected)
    assert abs(np.mean(novelty)) < 0.03
    # The spread of differences between two draws of 400 in four parts of equal size.
    assert np.mean(np.square(shares)) < 1.5 * 2 * 400 * 0.25 * 0.75


@pytest.mark.parametrize("n", [60, 5000])
def test_no_more_clusters_than_distinct_points(n: int) -> None:
    X = np.tile([[0.0], [1.0]], (n // 2, 1))
    partition, known = fit_clusters(X, n_clusters=4, n_components=20, seed=0)
    assert partition.n_clusters == 2
    assert_allclose(np.bincount(known.codes), [n // 2, n // 2])


def test_the_rarest_class_limits_the_clusters() -> None:
    X = np.random.default_rng(0).normal(size=(1000, 3))
    for n_rarest, n_clusters in ((1000, 4), (100, 4), (74, 2), (10, 2)):
        partition, _ = fit_clusters(X, n_clusters=4, n_components=20, seed=0, n_rarest=n_rarest)
        assert partition.n_clusters == n_clusters


def test_a_topic_never_seen_is_novel() -> None:
    X, _ = bags_of_words(400, 0)
    partition, known = fit_clusters(X, n_clusters=2, n_components=5, seed=0)
    strange = partition.locate(bags_of_words(100, 1, topics=(2,))[0])
    assert strange.novelty.min() > np.median(known.novelty)


def test_narrow_features_are_standardised() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (100, 2)), rng.normal(8, 1, (100, 2))]) * [1.0, 1000.0]
    partition, known = fit_clusters(X, n_clusters=2, n_components=20, seed=0)
    assert isinstance(partition.embedding, Standardisation)
    assert len(set(known.codes[:100])) == len(set(known.codes[100:])) == 1
    far = partition.locate(np.array([[100.0, 100000.0]]))
    assert far.novelty[0] == 1 > known.novelty.max()
    assert_allclose(partition.locate(csr_array(X)).novelty, partition.locate(X).novelty)


def test_small_training_sets_get_fewer_clusters() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    assert fit_clusters(X, n_clusters=8, n_components=20, seed=0)[0].n_clusters == 2
    assert fit_clusters(X[:10], n_clusters=8, n_components=20, seed=0)[0].n_clusters == 1
    same = np.ones((200, 3))
    assert fit_clusters(same, n_clusters=4, n_components=20, seed=0)[0].n_clusters == 1


def test_halves_separate_what_is_far_apart() -> None:
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [1.5, 0.0], [20.0, 0.0], [21.5, 0.0]])
    X = np.repeat(centres, 100, axis=0) + rng.normal(0, 0.1, (400, 2))
    partition, known = fit_clusters(X, n_clusters=4, n_components=20, seed=0)
    half = partition.halves[known.codes]
    assert len(set(half[:200])) == len(set(half[200:])) == 1
    assert half[0] != half[-1]


def test_known_groups_are_predicted_for_new_items() -> None:
    X, topic = bags_of_words(300, 0, topics=(0, 1, 2))
    names = np.array(["books", "films", "games"])[topic]
    partition, known = fit_groups(X, names, n_components=10, seed=0)
    assert np.mean(known.codes == topic) > 0.95
    X_new, topic_new = bags_of_words(100, 1, topics=(0, 1, 2))
    assert np.mean(partition.locate(X_new).codes == topic_new) > 0.95
    two, codes = fit_groups(X, topic == 1, n_components=10, seed=0)
    assert two.n_clusters == 2
    assert np.mean(codes.codes == (topic == 1)) > 0.95


def test_groups_that_cannot_serve_are_refused() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(DataError, match="X has 20 items but there are 3 groups"):
        fit_groups(X, ["a", "b", "a"], n_components=5, seed=0)
    with pytest.raises(DataError, match="all groups are 'a': leave groups out"):
        fit_groups(X, ["a"] * 20, n_components=5, seed=0)


def test_what_is_no_matrix_of_numbers_is_refused() -> None:
    with pytest.raises(UserError, match="use a scikit-learn Pipeline"):
        feature_matrix(["a text", "another"])
    with pytest.raises(DataError, match="NaN or infinite"):
        feature_matrix([[1.0, np.nan]])
    partition, _ = fit_clusters(np.eye(3)[[0, 1, 2] * 20], n_clusters=2, n_components=5, seed=0)
    with pytest.raises(DataError, match="X has 2 features, the training items had 3"):
        partition.locate(np.zeros((1, 2)))
    with pytest.raises(UserError, match="n_clusters and n_components must be at least 1"):
        fit_clusters(np.eye(3), n_clusters=0, n_components=5, seed=0)
    with pytest.raises(DataError, match="whole numbers from 0"):
        Clusters.known([-1, 0])


def test_new_items_fall_into_the_clusters_in_the_shares_of_training_items() -> None:
    # Few documents of many weak words: clusters that fit their noise would hold .18 too many.
    corpus = generate(5000, seed=0)
    X = csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(corpus.counts))
    distances = []
    for seed in range(3):
        train, new = np.split(np.random.default_rng(seed).permutation(5000), [600])
        partition, clusters = fit_clusters(X[train], n_clusters=4, n_components=20, seed=0)
        shares = [
            np.bincount(codes, minlength=4) / len(codes)
            for codes in (clusters.codes, partition.locate(X[new]).codes)
        ]
        distances.append(np.abs(shares[0] - shares[1]).sum() / 2)
    assert np.mean(distances) < 0.06  # .03 by chance alone
