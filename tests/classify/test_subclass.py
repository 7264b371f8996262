"""Clusters of the feature space and the calibration within them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.special import expit, logit
from sklearn.feature_extraction.text import TfidfTransformer

from quantshift.classify.calibration import fit_sigmoid
from quantshift.classify.subclass import (
    Clusters,
    Projection,
    Standardisation,
    feature_matrix,
    fit_clusters,
    fit_groups,
    fit_subclass_calibration,
)
from quantshift.corpora.synthetic import generate
from quantshift.errors import DataError, UserError


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
    assert abs(known.novelty.mean() - new.novelty.mean()) < 3 * error
    assert new.novelty.mean() - inside.mean() > 10 * error  # without the correction


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
    assert far.novelty[0] > 5 * known.novelty.max()
    sparse = partition.locate(csr_array(X))
    assert_allclose(sparse.novelty, known.novelty, atol=1e-12)


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
    with pytest.raises(UserError, match="give a scikit-learn Pipeline"):
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


def test_calibration_in_one_cluster_is_platt_s() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 2, 500)
    codes = (rng.random(500) < expit(0.5 * scores - 1)).astype(np.int64)
    posteriors = np.column_stack([1 - expit(scores), expit(scores)])
    ours = fit_subclass_calibration(posteriors, codes, np.zeros(500, np.int64), 1)
    assert_allclose(
        ours(posteriors, np.zeros(500, np.int64)),
        fit_sigmoid(posteriors, codes)(posteriors),
        atol=1e-5,
    )


def test_calibration_learns_each_cluster_and_shrinks_the_small() -> None:
    rng = np.random.default_rng(0)
    clusters = np.repeat([0, 1, 2], [4000, 4000, 3])
    scores = rng.normal(0, 2, len(clusters))
    true = np.where(clusters == 0, 0.5 * scores + 1, 2 * scores - 1)
    codes = (rng.random(len(clusters)) < expit(true)).astype(np.int64)
    posteriors = np.column_stack([1 - expit(scores), expit(scores)])
    fitted = fit_subclass_calibration(posteriors, codes, clusters, 3)
    assert_allclose(fitted.slopes[0, :2], [0.5, 2.0], atol=0.25)
    assert_allclose(fitted.offsets[0, :2], [1.0, -1.0], atol=0.25)
    assert fitted.slopes[0].min() <= fitted.slopes[0, 2] <= fitted.slopes[0].max()
    q = fitted(posteriors, clusters)
    assert_allclose(logit(q[:4000, 1]), true[:4000], atol=1.0)


def test_calibration_of_three_classes_is_on_the_simplex_and_calibrated() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=900)
    logits = 1.5 * np.eye(3)[codes] + rng.normal(size=(900, 3))
    posteriors = np.exp(3 * logits) / np.exp(3 * logits).sum(axis=1, keepdims=True)
    clusters = rng.integers(2, size=900)
    q = fit_subclass_calibration(posteriors, codes, clusters, 2)(posteriors, clusters)
    assert_allclose(q.sum(axis=1), 1)
    assert_allclose(q.mean(axis=0), np.bincount(codes) / 900, atol=0.02)


def test_separable_scores_stay_finite() -> None:
    codes = np.repeat([0, 1], 50)
    posteriors = np.eye(2)[codes]
    clusters = np.tile([0, 1], 50)
    q = fit_subclass_calibration(posteriors, codes, clusters, 2)(posteriors, clusters)
    assert np.isfinite(q).all()
    assert (q[np.arange(100), codes] > 0.9).all()


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
