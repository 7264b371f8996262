"""P(class | score, cluster), calibrated."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import expit, logit

from quantshift.classify.calibration.calibration import fit_sigmoid
from quantshift.classify.clusters.calibration import fit_cluster_calibration
from quantshift.classify.scores import farthest_score


def test_calibration_in_one_cluster_is_platt_s() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 2, 500)
    codes = (rng.random(500) < expit(0.5 * scores - 1)).astype(np.int64)
    # Scores beyond what 500 items can tell are cut, so both see cut ones.
    cut = np.clip(scores, -farthest_score(500), farthest_score(500))
    posteriors = np.column_stack([1 - expit(cut), expit(cut)])
    ours = fit_cluster_calibration(posteriors, codes, np.zeros(500, np.int64), 1)
    assert ours.curves[0].spline is None
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
    fitted = fit_cluster_calibration(posteriors, codes, clusters, 3)
    # Offset and slope of each cluster, from the curve at two scores.
    offsets, ones = (fitted.curves[0].log_odds(np.full(3, s), np.arange(3)) for s in (0.0, 1.0))
    slopes = ones - offsets
    assert_allclose(slopes[:2], [0.5, 2.0], atol=0.25)
    assert_allclose(offsets[:2], [1.0, -1.0], atol=0.25)
    assert slopes.min() <= slopes[2] <= slopes.max()
    q = fitted(posteriors, clusters)
    assert_allclose(logit(q[:4000, 1]), true[:4000], atol=1.0)


def test_log_odds_are_the_design_times_the_coefficients() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 3, 2000)
    codes = (rng.random(2000) < expit(np.where(scores < 0, 0.3, 3) * scores)).astype(np.int64)
    posteriors = np.column_stack([1 - expit(scores), expit(scores)])
    clusters = rng.integers(3, size=2000)
    fitted = fit_cluster_calibration(posteriors, codes, clusters, 3)
    curve = fitted.curves[0]
    assert curve.spline is not None  # two slopes are no line
    cut = np.clip(scores, -fitted.farthest, fitted.farthest)
    assert_allclose(curve.log_odds(cut, clusters), curve.design(cut, clusters) @ curve.theta)
    q = fitted(posteriors, clusters)[:, 1]
    true = expit(np.where(scores < 0, 0.3, 3) * scores)
    straight = fit_sigmoid(posteriors, codes)(posteriors)[:, 1]
    assert np.abs(q - true).mean() < 0.5 * np.abs(straight - true).mean()


def test_refit_by_weights_is_near_a_fit_of_repeated_items() -> None:
    rng = np.random.default_rng(0)
    scores, clusters = rng.normal(0, 2, 1000), rng.integers(2, size=1000)
    codes = (rng.random(1000) < expit(scores - clusters)).astype(np.int64)
    posteriors = np.column_stack([1 - expit(scores), expit(scores)])
    fitted = fit_cluster_calibration(posteriors, codes, clusters, 2)
    refit = fitted.refitter(posteriors, codes, clusters)
    assert_allclose(refit(np.ones(1000))(posteriors, clusters), fitted(posteriors, clusters))
    rows = np.concatenate(
        [rng.choice(np.flatnonzero(codes == k), (codes == k).sum()) for k in (0, 1)]
    )
    weights = np.bincount(rows, minlength=1000).astype(float)
    exact = fit_cluster_calibration(posteriors[rows], codes[rows], clusters[rows], 2)
    assert_allclose(refit(weights)(posteriors, clusters), exact(posteriors, clusters), atol=0.03)


def test_calibration_of_three_classes_is_on_the_simplex_and_calibrated() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=900)
    logits = 1.5 * np.eye(3)[codes] + rng.normal(size=(900, 3))
    posteriors = np.exp(3 * logits) / np.exp(3 * logits).sum(axis=1, keepdims=True)
    clusters = rng.integers(2, size=900)
    q = fit_cluster_calibration(posteriors, codes, clusters, 2)(posteriors, clusters)
    assert_allclose(q.sum(axis=1), 1)
    assert_allclose(q.mean(axis=0), np.bincount(codes) / 900, atol=0.02)


def test_separable_scores_stay_finite() -> None:
    codes = np.repeat([0, 1], 50)
    posteriors = np.eye(2)[codes]
    clusters = np.tile([0, 1], 50)
    q = fit_cluster_calibration(posteriors, codes, clusters, 2)(posteriors, clusters)
    assert np.isfinite(q).all()
    assert (q[np.arange(100), codes] > 0.9).all()
