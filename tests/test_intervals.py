"""Bootstrap intervals: right width, all quantifiers, batches, small samples."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from quantshift import MLPE, PACC, SLD, SubclassSLD, catalogue
from quantshift.errors import DataError, UserError
from quantshift.intervals import (
    SMALL,
    aggregate_interval,
    limits,
    predict_interval,
    replicate_estimates,
    training_replicate,
    wilson_limits,
)
from quantshift.quantifiers.estimator import AbstractQuantifier

SHIFT = np.array([1.5, 0.5])


def draw(n, p, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < p).astype(int)
    return rng.normal(size=(n, 2)) + y[:, np.newaxis] * SHIFT, y


@pytest.fixture(scope="module")
def fitted() -> dict[str, AbstractQuantifier]:
    X, y = draw(1000, 0.5, 0)
    made = {name: cls() for name, cls in catalogue.quantifiers().items()}
    return {name: quantifier.fit(X, y) for name, quantifier in made.items()}


@pytest.mark.parametrize("name", list(catalogue.quantifiers()))
def test_every_quantifier_has_an_interval_around_its_estimate(fitted, name):
    X, _ = draw(200, 0.3, 1)
    found = predict_interval(fitted[name], X, n_bootstrap=100)
    assert found.replicates.shape == (100, 2)
    np.testing.assert_allclose(found.prevalence, fitted[name].predict(X))
    assert np.all(found.low <= found.high)
    assert found.low[1] <= found.prevalence[1] <= found.high[1]
    np.testing.assert_allclose(found.low[0], 1 - found.high[1], atol=1e-12)
    assert 0.01 < found.high[1] - found.low[1] < 0.5


def test_the_interval_of_pcc_is_that_of_a_mean(fitted):
    X, _ = draw(400, 0.3, 2)
    posteriors = fitted["PCC"].items(X)
    found = predict_interval(fitted["PCC"], X, n_bootstrap=4000)
    expected = 2 * 1.96 * posteriors[:, 1].std() / np.sqrt(len(X))
    assert found.high[1] - found.low[1] == pytest.approx(expected, rel=0.06)


def test_the_interval_of_mlpe_is_that_of_counted_labels(fitted):
    found = predict_interval(fitted["MLPE"], np.zeros((50, 2)), n_bootstrap=2000)
    assert found.high[1] - found.low[1] == pytest.approx(2 * 1.96 * 0.5 / np.sqrt(1000), rel=0.15)


def test_a_smaller_training_set_widens_the_interval():
    X, _ = draw(1000, 0.3, 3)
    widths = []
    for n in (100, 2000):
        quantifier = PACC(LogisticRegression()).fit(*draw(n, 0.5, 4))
        found = predict_interval(quantifier, X, n_bootstrap=200)
        widths.append(found.high[1] - found.low[1])
    assert widths[0] > 1.3 * widths[1]


def test_samples_of_a_pool_have_the_interval_they_have_alone(fitted):
    X, _ = draw(300, 0.4, 5)
    both = predict_interval(fitted["SLD"], X, [np.arange(100), np.arange(100, 300)], n_bootstrap=50)
    alone = predict_interval(fitted["SLD"], X[:100], n_bootstrap=50)
    assert both.low.shape == (2, 2)
    np.testing.assert_array_equal(both.replicates[0], alone.replicates)
    padded = np.full((2, 200), -1)
    padded[0, :100], padded[1] = np.arange(100), np.arange(100, 300)
    again = predict_interval(fitted["SLD"], X, padded, n_bootstrap=50)
    np.testing.assert_array_equal(again.replicates, both.replicates)


def test_the_seed_decides(fitted):
    X, _ = draw(100, 0.4, 6)
    one, same, other = (
        predict_interval(fitted["SLD"], X, n_bootstrap=50, seed=s) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.replicates, same.replicates)
    assert np.any(one.replicates != other.replicates)


def test_posteriors_of_any_model_and_three_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    posteriors = rng.dirichlet(np.ones(3), 600) * 0.3 + 0.7 * np.eye(3)[y] * rng.random((600, 1))
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    quantifier = SLD().fit_posteriors(posteriors[:300], y[:300])
    found = aggregate_interval(quantifier, posteriors[300:], n_bootstrap=100)
    assert found.low.shape == (3,)
    truth = np.bincount(y[300:]) / 300
    assert np.all((found.low - 0.02 < truth) & (truth < found.high + 0.02))


def spread(centre, half_width, n=2001):
    """Replicates evenly spread about a centre, clipped, of two classes."""
    p = np.clip(np.linspace(centre - half_width, centre + half_width, n), 0, 1)
    return np.stack([1 - p, p], axis=1)[np.newaxis]


def test_limits_are_moved_by_twice_the_bias():
    p_hat = np.array([[0.6, 0.4]])
    low, high = limits(p_hat, spread(0.4, 0.1), [100], 0.9)
    np.testing.assert_allclose((low[0, 1], high[0, 1]), (0.31, 0.49), atol=1e-12)
    low, high = limits(p_hat, spread(0.43, 0.1), [100], 0.9)
    np.testing.assert_allclose((low[0, 1], high[0, 1]), (0.28, 0.46), atol=1e-12)
    np.testing.assert_allclose((low[0, 0], high[0, 0]), (0.54, 0.72), atol=1e-12)


def test_a_limit_at_the_border_stays():
    # Half of the replicates are clipped at 0: their median says nothing about bias.
    low, high = limits(np.array([[0.98, 0.02]]), spread(0.0, 0.1), [100], 0.9)
    assert low[0, 1] == 0
    assert high[0, 0] == 1
    assert high[0, 1] == pytest.approx(0.13)


def test_the_estimate_is_between_the_limits_however_biased():
    low, high = limits(np.array([[0.7, 0.3]]), spread(0.6, 0.05), [100], 0.9)
    assert low[0, 1] <= 0.3 == high[0, 1]


@pytest.mark.parametrize("n", [1, 5, SMALL - 1])
def test_small_samples_are_at_least_as_uncertain_as_counting(fitted, n):
    X, _ = draw(n, 0.5, 7)
    found = predict_interval(fitted["PCC"], X, n_bootstrap=100)
    low, high = wilson_limits(found.prevalence, n, 1.959963984540054)
    assert np.all(found.low <= low + 1e-12)
    assert np.all(found.high >= high - 1e-12)


def test_wilson_limits_match_a_published_example():
    # 9 of 10 (Brown, Cai and DasGupta 2001 give the formula); by hand: (.596, .982).
    low, high = wilson_limits(np.array([0.9]), 10, 1.959963984540054)
    assert (round(float(low[0]), 3), round(float(high[0]), 3)) == (0.596, 0.982)


def test_a_training_replicate_keeps_the_classes_sizes(fitted):
    rows = training_replicate(fitted["SLD"], 3, seed=0)
    codes = fitted["SLD"].held_out_codes_
    np.testing.assert_array_equal(np.bincount(codes[rows]), np.bincount(codes))
    assert len(np.unique(rows)) < len(rows)


def test_a_class_too_rare_for_a_plain_draw_stays():
    y = np.array(["a"] * 400 + ["b"])
    quantifier = MLPE().fit(np.zeros((401, 1)), y)
    drawn = [training_replicate(quantifier, number, seed=0) for number in range(20)]
    codes = quantifier.held_out_codes_
    assert all(len(np.unique(codes[rows])) == 2 for rows in drawn)


def test_wrong_options_are_one_line(fitted):
    X, _ = draw(50, 0.5, 8)
    with pytest.raises(UserError, match="between 0 and 1, got 95"):
        predict_interval(fitted["PCC"], X, level=95, n_bootstrap=10)
    with pytest.raises(UserError, match="at least 2 bootstrap replicates, got 1"):
        predict_interval(fitted["PCC"], X, n_bootstrap=1)
    with pytest.raises(DataError, match="the sample is empty"):
        predict_interval(fitted["PCC"], X[:0])
    with pytest.raises(DataError, match=r"\(n_items, n_classes\)"):
        aggregate_interval(fitted["PCC"], np.full((2, 3, 2), 0.5))


def test_models_keep_the_weights_of_the_sample_in_its_replicates():
    # Groups that tell the class, and nothing else that does: a change of prevalence and one of
    # groups look alike, and a resampled sample is closer to the latter by chance.
    def drawn(n, p, seed):
        rng = np.random.default_rng(seed)
        y = (rng.random(n) < p).astype(int)
        group = np.where(rng.random(n) < 0.25, 1 - y, y)
        return rng.normal(size=(n, 3)) + np.outer(group, [8.0, 0.0, 0.0]), y

    quantifier = SubclassSLD(n_clusters=2).fit(*drawn(1000, 0.4, 0))
    X = drawn(400, 0.1, 1)[0]
    found = predict_interval(quantifier, X, n_bootstrap=200)
    items, rows = quantifier.items(X), [np.arange(400)]
    replicates = replicate_estimates(quantifier, items, rows, n_bootstrap=200, seed=0)
    own = np.concatenate([estimate.prevalence[:, 1] for _, estimate in replicates])
    assert found.low[1] < 0.1 < found.high[1] < 0.25
    assert np.quantile(own, 0.975) > 0.4  # with weights of their own


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ACC", "PACC", "DyS", "SLD"])
def test_coverage_under_prior_shift(name):
    cls = catalogue.quantifiers()[name]
    covered = []
    for repeat in range(20):
        quantifier = cls().fit(*draw(1000, 0.5, 1000 + repeat))
        for p in (0.2, 0.5, 0.8):
            pool = [draw(200, p, 10_000 + 100 * repeat + s)[0] for s in range(10)]
            index = np.arange(2000).reshape(10, 200)
            found = predict_interval(quantifier, np.concatenate(pool), index, n_bootstrap=400)
            covered.append((found.low[:, 1] <= p) & (p <= found.high[:, 1]))
    # 600 samples, 20 training sets: .95 give or take about two standard errors.
    assert 0.92 <= np.mean(covered) <= 0.98


@pytest.mark.parametrize("name", list(catalogue.quantifiers()))
def test_refitted_on_all_its_items_a_quantifier_is_itself(fitted, name):
    X, _ = draw(100, 0.3, 9)
    quantifier = fitted[name]
    items = quantifier.items(X)
    before = quantifier.estimate_items(items).prevalence
    everyone = np.arange(len(quantifier.held_out_codes_))
    np.testing.assert_allclose(quantifier.refit(everyone).estimate_items(items).prevalence, before)
    quantifier.refit(everyone[::3])
    np.testing.assert_array_equal(quantifier.estimate_items(items).prevalence, before)
