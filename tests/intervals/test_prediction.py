"""Bootstrap intervals: right width, all quantifiers, batches, small samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binomtest, norm, t
from sklearn.linear_model import LogisticRegression

from quantshift import ACC, CC, MLPE, PACC, SLD, SubclassSLD
from quantshift.errors import DataError, UserError
from quantshift.intervals.counted import wilson_limits
from quantshift.intervals.engine import training_replicate
from quantshift.intervals.limits import around, expansion, limits
from quantshift.intervals.prediction import (
    Replicates,
)
from quantshift.intervals.replicates import Members
from quantshift.quantifiers import ClassifierMedian, DeBias, EDx, EoQ, FusedSLD, HDx
from quantshift.quantifiers.base import catalogue
from quantshift.quantifiers.base.estimator import AbstractQuantifier
from quantshift.quantifiers.bayesian.bayesian import AbstractBayesian
from tests.quick_methods import each

SHIFT = np.array([1.5, 0.5])
Z = 1.959963984540054

WITH_INTERVAL = [name for name, cls in catalogue.quantifiers().items() if not cls.tags.no_interval]
ADJUSTED = [
    name
    for name in WITH_INTERVAL
    if catalogue.quantifiers()[name].tags.adjusts
    and "posteriors" in catalogue.quantifiers()[name].tags.sees
    # Estimates that a prior draws away from the border are not those of counting.
    and not catalogue.quantifiers()[name]().shrinks
]
REPLICATED = [
    name
    for name in WITH_INTERVAL
    if not issubclass(catalogue.quantifiers()[name], AbstractBayesian)
    and not catalogue.quantifiers()[name].tags.draws_of_items
]
"""Those without a distribution of the share, whose quantiles need not be as far apart."""
FEW_MEMBERS = {
    "ClassifierMedian": ClassifierMedian([PACC()], [LogisticRegression()]),
    "EoQ": EoQ(n_members=3),
    "FusedSLD": FusedSLD(n_members=2, calibration="sigmoid"),
}
"""Ensembles that are fitted in no time."""


def draw(n, p, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < p).astype(int)
    return rng.normal(size=(n, 2)) + y[:, np.newaxis] * SHIFT, y


@pytest.fixture(scope="module")
def fitted() -> dict[str, AbstractQuantifier]:
    X, y = draw(1000, 0.5, 0)
    made = {name: cls() for name, cls in catalogue.quantifiers().items()} | FEW_MEMBERS
    return {name: quantifier.fit(X, y) for name, quantifier in made.items()}


@pytest.mark.parametrize("name", each(WITH_INTERVAL))
def test_every_quantifier_has_an_interval_around_its_estimate(fitted, name):
    X, _ = draw(200, 0.3, 1)
    found = fitted[name].predict_interval(X, n_bootstrap=100)
    assert found.replicates.shape == (100, 2)
    np.testing.assert_allclose(found.prevalence, fitted[name].predict(X))
    assert np.all(found.low <= found.high)
    assert found.low[1] <= found.prevalence[1] <= found.high[1]
    np.testing.assert_allclose(found.low[0], 1 - found.high[1], atol=1e-12)
    assert 0.01 < found.high[1] - found.low[1] < 0.5


def test_the_interval_of_pcc_is_that_of_a_mean(fitted):
    X, _ = draw(400, 0.3, 2)
    posteriors = fitted["PCC"].items(X).posteriors
    found = fitted["PCC"].predict_interval(X, n_bootstrap=4000)
    low, high = np.quantile(found.replicates[:, 1], [0.025, 0.975])
    expected = 2 * 1.96 * posteriors[:, 1].std() / np.sqrt(len(X))
    assert high - low == pytest.approx(expected, rel=0.06)


def test_the_interval_of_mlpe_is_that_of_counted_labels(fitted):
    found = fitted["MLPE"].predict_interval(np.zeros((5000, 2)), n_bootstrap=2000)
    assert found.high[1] - found.low[1] == pytest.approx(2 * 1.96 * 0.5 / np.sqrt(1000), rel=0.15)


def test_a_smaller_training_set_widens_the_interval():
    X, _ = draw(1000, 0.3, 3)
    widths = []
    for n in (100, 2000):
        quantifier = PACC(LogisticRegression()).fit(*draw(n, 0.5, 4))
        found = quantifier.predict_interval(X, n_bootstrap=200)
        widths.append(found.high[1] - found.low[1])
    assert widths[0] > 1.3 * widths[1]


def test_samples_of_a_pool_have_the_interval_they_have_alone(fitted):
    X, _ = draw(300, 0.4, 5)
    both = fitted["SLD"].predict_interval(X, [np.arange(100), np.arange(100, 300)], n_bootstrap=50)
    alone = fitted["SLD"].predict_interval(X[:100], n_bootstrap=50)
    assert both.low.shape == (2, 2)
    np.testing.assert_array_equal(both.replicates[0], alone.replicates)
    padded = np.full((2, 200), -1)
    padded[0, :100], padded[1] = np.arange(100), np.arange(100, 300)
    again = fitted["SLD"].predict_interval(X, padded, n_bootstrap=50)
    np.testing.assert_array_equal(again.replicates, both.replicates)


def test_the_seed_decides(fitted):
    X, _ = draw(100, 0.4, 6)
    one, same, other = (
        fitted["SLD"].predict_interval(X, n_bootstrap=50, random_state=s) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.replicates, same.replicates)
    assert np.any(one.replicates != other.replicates)


def test_posteriors_of_any_model_and_three_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    posteriors = rng.dirichlet(np.ones(3), 600) * 0.3 + 0.7 * np.eye(3)[y] * rng.random((600, 1))
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    quantifier = SLD().fit_posteriors(posteriors[:300], y[:300])
    found = quantifier.aggregate_interval(posteriors[300:], n_bootstrap=100)
    assert found.low.shape == (3,)
    truth = np.bincount(y[300:]) / 300
    assert np.all((found.low - 0.02 < truth) & (truth < found.high + 0.02))


def spread(centre, half_width, n=2001):
    """Replicates evenly spread about a centre, clipped, of two classes."""
    p = np.clip(np.linspace(centre - half_width, centre + half_width, n), 0, 1)
    return np.stack([1 - p, p], axis=1)[np.newaxis]


def test_limits_are_moved_by_twice_the_bias():
    p_hat = np.array([[0.6, 0.4]])
    low, high = limits(p_hat, spread(0.4, 0.1), [10_000], 0.9)
    np.testing.assert_allclose((low[0, 1], high[0, 1]), (0.31, 0.49), atol=1e-12)
    low, high = limits(p_hat, spread(0.43, 0.1), [10_000], 0.9)
    np.testing.assert_allclose((low[0, 1], high[0, 1]), (0.28, 0.46), atol=1e-12)
    np.testing.assert_allclose((low[0, 0], high[0, 0]), (0.54, 0.72), atol=1e-12)


def test_limits_of_few_simulated_replicates_hold_one_more_of_them():
    """Of 39 replicates the least and the largest: another is beyond either in one of 40 cases."""
    replicates = np.linspace(0.3, 0.5, 39)[:, np.newaxis] * [1, 0, -1] + [0, 0.2, 0.8]
    p_hat = np.array([[0.4, 0.2, 0.4]])
    low, high = limits(p_hat, replicates[np.newaxis], [10**9], 0.95, centre=p_hat)
    assert_allclose(low[0, [0, 2]], 0.3)
    assert_allclose(high[0, [0, 2]], 0.5)


def test_the_bias_of_simulated_replicates_is_an_error_and_half_corrected():
    """A bias of one standard error: moved by half of it, and wider by the square root of two."""
    noise = np.random.default_rng(0).normal(size=2001)
    noise -= noise.mean()
    error = 0.02 * noise.std(ddof=1)
    replicates = (0.4 + error + 0.02 * noise)[:, np.newaxis] * [1, 0, -1] + [0, 0.2, 0.8]
    p_hat = np.array([[0.4, 0.2, 0.4]])
    plain, doubted = (
        np.array(limits(p_hat, replicates[np.newaxis], [10**9], 0.95, centre=p_hat, new_items=new))[
            :, 0, 0
        ]
        for new in (True, False)
    )
    tails = np.quantile(0.02 * noise, [0.025, 0.975], method="weibull")
    assert_allclose(plain, 0.4 - error / 2 + tails)
    assert_allclose(doubted, 0.4 - error / 2 + np.sqrt(2) * tails)


@pytest.mark.parametrize("relative", [0.0, 0.2, 0.5, 1.0, 2.0, 5.0])
def test_limits_cover_whatever_the_bias(relative):
    """Normal estimates of a share of a half, whose bias the replicates show."""
    rng = np.random.default_rng(1)
    error, n = 0.01, 4000
    p_hat = 0.5 + error * (relative + rng.normal(size=n))
    noise = error * (relative + norm.ppf((np.arange(999) + 0.5) / 999))
    _, _, low, high = around(
        p_hat[:, np.newaxis],
        (p_hat[:, np.newaxis] + noise)[..., np.newaxis],
        np.full((n, 1), error * relative),
        0.95,
    )
    covered = np.mean((low < 0.5) & (high > 0.5))
    # The standard error of a share of 95% is 0.0034.
    assert covered > 0.94


def test_a_small_training_set_expands_limits_as_students_t():
    """One class matters: t of its n - 1 degrees of freedom, and sqrt(n / (n - 1))."""
    only = expansion(np.array([[0.0, 1.0, 0.0]]), [3, 10, 5], 0.95)
    assert_allclose(only, [[np.sqrt(10 / 9) * t.ppf(0.975, 9) / Z]])
    # Equal shares of equal classes: their degrees of freedom are added.
    equal = expansion(np.full((1, 3), 1 / 3), [11, 11, 11], 0.95)
    assert_allclose(equal, [[np.sqrt(11 / 10) * t.ppf(0.975, 30) / Z]])
    assert_allclose(expansion(np.full((1, 2), 0.5), [10**7, 10**7], 0.95), 1, rtol=1e-6)
    assert np.isfinite(expansion(np.array([[0.5, 0.5]]), [1, 1], 0.95)).all()


def test_training_items_of_unequal_weight_count_as_fewer():
    codes, weights = np.array([0, 0, 0, 0, 1, 1]), np.array([1.0, 1, 1, 1, 3, 1])
    assert_allclose(Members(codes, 2, None, "all").sizes(), [4, 2])
    assert_allclose(Members(codes, 2, weights, "all").sizes(), [4, 1.6])


@pytest.mark.parametrize(("method", "items_of"), [(HDx(), "rest"), (EDx(), "all")])
def test_methods_that_recognise_training_items_are_tried_on_others(method, items_of):
    """Histograms of 110 bins recognise 100 items; mean distances in two dimensions do not."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 2)) + 1.5 * y[:, np.newaxis]
    fitted = method.fit(X, y)
    items, rows = fitted.items(X), [np.arange(50)]
    drawn = Replicates(fitted, items, rows, level=0.95, n_bootstrap=10, seed=0)
    assert drawn.rows.members.items_of == items_of


def test_a_limit_at_the_border_stays():
    # Half of the replicates are clipped at 0: their median says nothing about bias.
    low, high = limits(np.array([[0.98, 0.02]]), spread(0.0, 0.1), [10_000], 0.9)
    assert low[0, 1] == 0
    assert high[0, 0] == 1
    assert high[0, 1] == pytest.approx(0.13)


def test_the_estimate_is_between_the_limits_however_biased():
    low, high = limits(np.array([[0.7, 0.3]]), spread(0.6, 0.05), [10**9], 0.9)
    assert low[0, 1] <= 0.3 <= high[0, 1]
    assert high[0, 1] == pytest.approx(0.3, abs=1e-4)


@pytest.mark.parametrize("name", each(REPLICATED))
@pytest.mark.parametrize("n", [1, 29, 30, 400])
def test_samples_are_at_least_as_uncertain_as_counting(fitted, name, n):
    X, _ = draw(n, 0.5, 7)
    found = fitted[name].predict_interval(X, n_bootstrap=20)
    low, high = wilson_limits(found.prevalence, n, Z)
    assert np.all(found.low <= low + 1e-12)
    assert np.all(found.high >= high - 1e-12)


@pytest.mark.parametrize("name", each(ADJUSTED))
def test_an_estimate_at_the_border_has_an_interval(fitted, name):
    # Items far on the side of the first class: the estimate is 0, as at a small true prevalence.
    X = draw(300, 0.0, 11)[0] - np.array([1.0, 0.0])
    found = fitted[name].predict_interval(X, n_bootstrap=50)
    assert found.prevalence[1] == pytest.approx(0.0, abs=1e-6)
    assert found.low[1] == 0
    assert found.high[1] >= wilson_limits(np.zeros(1), 300, Z)[1][0] - 1e-12


@pytest.mark.parametrize("name", each(ADJUSTED))
def test_posteriors_that_are_constant_say_nothing(name):
    held_out, y = np.full((200, 2), 0.5), np.repeat([0, 1], 100)
    quantifier = catalogue.quantifiers()[name]().fit_posteriors(held_out, y)
    for sample in (held_out[:50], np.tile([0.3, 0.7], (100, 1))):
        found = quantifier.aggregate_interval(sample, n_bootstrap=50)
        np.testing.assert_array_equal(found.low, 0.0)
        np.testing.assert_array_equal(found.high, 1.0)
        assert not found.informative.any()


@pytest.mark.parametrize("name", each(ADJUSTED))
def test_a_classifier_no_better_than_chance_says_nothing(name):
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(400, 2)), np.tile([0, 1], 200)
    quantifier = catalogue.quantifiers()[name]().fit(X, y)
    found = quantifier.predict_interval(rng.normal(size=(300, 2)), n_bootstrap=20)
    np.testing.assert_array_equal((found.low, found.high), ([0.0, 0.0], [1.0, 1.0]))
    assert not found.informative.any()


def test_features_that_tell_nothing_say_nothing_to_hdx():
    """Histograms of noise tell the very items apart that made them, and no others."""
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(400, 2)), np.tile([0, 1], 200)
    found = HDx().fit(X, y).predict_interval(rng.normal(size=(300, 2)), n_bootstrap=20)
    assert found.low[1] < 0.1
    assert found.high[1] > 0.9
    three = HDx().fit(X, np.arange(400) % 3)
    wide = three.predict_interval(rng.normal(size=(60, 2)), n_bootstrap=20)
    assert (wide.high - wide.low).min() > 0.25


def test_a_classifier_that_never_predicts_a_class_says_nothing_to_acc_and_something_to_pacc():
    rng = np.random.default_rng(13)
    y = np.repeat([0, 1], [900, 100])
    positive = 0.2 + 0.2 * rng.random(1000) * (1 + y)  # below .6, nearly always below .5
    positive = np.minimum(positive, 0.49)
    posteriors = np.stack([1 - positive, positive], axis=1)
    acc = ACC().fit_posteriors(posteriors, y)
    found = acc.aggregate_interval(posteriors[:200], n_bootstrap=50)
    np.testing.assert_array_equal((found.low, found.high), ([0.0, 0.0], [1.0, 1.0]))
    found = PACC().fit_posteriors(posteriors, y).aggregate_interval(posteriors[:200])
    assert found.informative.all()
    assert found.high[1] < 0.3
    counted = CC().fit_posteriors(posteriors, y).aggregate_interval(posteriors[:200])
    assert counted.prevalence[1] == 0
    assert not counted.informative.any()
    np.testing.assert_array_equal((counted.low, counted.high), ([0.0, 0.0], [1.0, 1.0]))


@pytest.mark.parametrize("name", each(ADJUSTED))
@pytest.mark.parametrize("k", [0, 3, 40])
def test_posteriors_that_are_always_right_leave_the_uncertainty_of_counting(name, k):
    held_out = np.eye(2)[np.repeat([0, 1], 250)]
    quantifier = catalogue.quantifiers()[name]().fit_posteriors(held_out, held_out[:, 1])
    found = quantifier.aggregate_interval(
        np.eye(2)[np.repeat([1, 0], [k, 80 - k])], n_bootstrap=100
    )
    exact = binomtest(k, 80).proportion_ci(0.95, method="exact")
    assert found.low[1] == pytest.approx(exact.low, abs=0.02)
    assert found.high[1] == pytest.approx(exact.high, abs=0.02)
    assert found.high[1] - found.low[1] > 0.03


def test_classes_that_look_alike_share_what_they_have_together():
    # The third of three classes is told from the others; the first two are not told apart.
    rng = np.random.default_rng(14)
    y = np.repeat([0, 1, 2], 200)

    def scored(y):
        third = np.where(y == 2, 0.8, 0.1) + 0.1 * rng.random(len(y))
        first = (1 - third) * rng.uniform(0.3, 0.7, len(y))
        return np.stack([first, 1 - first - third, third], axis=1)

    quantifier = PACC().fit_posteriors(scored(y), y)
    found = quantifier.aggregate_interval(scored(np.repeat([0, 2], [60, 240])), n_bootstrap=100)
    assert found.informative.tolist() == [False, False, True]
    assert found.low.tolist()[:2] == [0, 0]
    assert found.high[0] == found.high[1]
    assert 0.2 < found.high[0] < 0.9
    assert found.low[2] < 0.8 < found.high[2]


def overlapping(n, p, seed):
    rng = np.random.default_rng(seed)
    y = rng.choice(len(p), n, p=p)
    scores = np.exp(rng.normal(size=(n, len(p))) + 1.5 * np.eye(len(p))[y])
    return scores / scores.sum(axis=1, keepdims=True), y


def test_intervals_for_all_classes_at_once_are_wider():
    quantifier = PACC().fit_posteriors(*overlapping(1000, np.full(4, 0.25), 0))
    sample, _ = overlapping(300, [0.1, 0.2, 0.3, 0.4], 1)
    alone, joint = (
        quantifier.aggregate_interval(sample, n_bootstrap=200, simultaneous=simultaneous)
        for simultaneous in (False, True)
    )
    assert (alone.simultaneous, joint.simultaneous) == (False, True)
    ratio = (joint.high - joint.low) / (alone.high - alone.low)
    # Bonferroni over four classes would be 2.50 / 1.96.
    assert np.all((ratio > 1.1) & (ratio < 1.35))
    np.testing.assert_array_equal(alone.prevalence, joint.prevalence)


def test_two_classes_have_one_interval(fitted):
    X, _ = draw(100, 0.4, 6)
    one, same = (
        fitted["PACC"].predict_interval(X, n_bootstrap=50, simultaneous=s) for s in (False, True)
    )
    np.testing.assert_array_equal((one.low, one.high), (same.low, same.high))


@pytest.mark.slow
def test_coverage_of_many_classes():
    alone, together = [], []
    for repeat in range(15):
        quantifier = PACC().fit_posteriors(*overlapping(800, np.full(4, 0.25), repeat))
        rng = np.random.default_rng(1000 + repeat)
        truth = rng.dirichlet(np.full(4, 0.7), 20)
        pool = [overlapping(200, p, 5000 + 100 * repeat + i)[0] for i, p in enumerate(truth)]
        index = np.arange(4000).reshape(20, 200)
        for found, simultaneous in ((alone, False), (together, True)):
            interval = quantifier.aggregate_interval(
                np.concatenate(pool),
                index,
                n_bootstrap=200,
                simultaneous=simultaneous,
            )
            found.append((interval.low <= truth) & (truth <= interval.high))
    # 300 samples of 15 training sets: .95 give or take about two standard errors.
    assert 0.93 <= np.mean(alone) <= 0.98
    assert np.mean(np.all(alone, axis=2)) < 0.9
    assert 0.92 <= np.mean(np.all(together, axis=2)) <= 0.99


def test_hdy_refuses_and_names_what_to_use(fitted):
    X, _ = draw(50, 0.5, 8)
    with pytest.raises(UserError, match=r"HDy has no interval: its histograms .* use DyS"):
        fitted["HDy"].predict_interval(X)


def test_a_method_that_trusts_posteriors_is_as_uncertain_as_one_that_learns():
    X, y = draw(300, 0.5, 0)
    sample, _ = draw(500, 0.25, 1)
    debias, pacc = (
        cls(LogisticRegression()).fit(X, y).predict_interval(sample, n_bootstrap=200)
        for cls in (DeBias, PACC)
    )
    widths = [float(found.high[1] - found.low[1]) for found in (debias, pacc)]
    # They are the same method if posteriors are calibrated; 200 replicates give limits to 10%.
    assert widths[0] == pytest.approx(widths[1], rel=0.25)


@pytest.mark.parametrize("name", WITH_INTERVAL)
def test_a_method_that_keeps_its_bias_says_so_of_its_interval(name):
    cls = catalogue.quantifiers()[name]
    assert cls.tags.adjusts or cls.tags.interval_note


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
    with pytest.raises(UserError, match=r"between 0 and 1, such as 0\.95, got 95"):
        fitted["PCC"].predict_interval(X, level=95, n_bootstrap=10)
    with pytest.raises(
        UserError, match="'n_bootstrap' must be a whole number of at least 2, got 1"
    ):
        fitted["PCC"].predict_interval(X, n_bootstrap=1)
    with pytest.raises(DataError, match="the sample is empty"):
        fitted["PCC"].predict_interval(X[:0])
    with pytest.raises(DataError, match=r"\(n_items, n_classes\)"):
        fitted["PCC"].aggregate_interval(np.full((2, 3, 2), 0.5))


def test_models_keep_the_weights_of_the_sample_in_its_replicates():
    # Groups that tell the class, and nothing else that does: a change of prevalence and one of
    # groups look alike, and a resampled sample is closer to the latter by chance.
    def drawn(n, p, seed):
        rng = np.random.default_rng(seed)
        y = (rng.random(n) < p).astype(int)
        group = np.where(rng.random(n) < 0.25, 1 - y, y)
        return rng.normal(size=(n, 3)) + np.outer(group, [8.0, 0.0, 0.0]), y

    quantifier = SubclassSLD(n_clusters=2).fit(*drawn(1000, 0.4, 0))
    assert not quantifier.divided_  # for that reason; as if it were:
    quantifier.divided_ = True
    X = drawn(400, 0.1, 1)[0]
    found = quantifier.predict_interval(X, n_bootstrap=200)
    items, rows = quantifier.items(X), [np.arange(400)]
    drawn = Replicates(quantifier, items, rows, level=0.95, n_bootstrap=200, seed=0)
    own = np.concatenate([estimate.prevalence[:, 1] for _, estimate in drawn.estimates()])
    assert found.low[1] < 0.1 < found.high[1] < 0.25
    assert np.quantile(own, 0.975) > found.high[1]  # with weights of their own


@pytest.mark.parametrize("name", ["CC", "MLPE", "PACC", "SLD", "SubclassSLD", "HDx"])
def test_equal_weights_leave_an_interval_as_it_is(fitted, name):
    X, _ = draw(80, 0.3, 3)
    plain = fitted[name].predict_interval(X, n_bootstrap=10)
    same = fitted[name].predict_interval(X, n_bootstrap=10, sample_weight=np.full(80, 4.0))
    np.testing.assert_array_equal([plain.low, plain.high], [same.low, same.high])


def test_the_interval_of_a_weighted_mean_is_that_of_its_effective_size(fitted):
    X, _ = draw(400, 0.3, 2)
    weights = np.random.default_rng(0).exponential(size=400)
    posteriors = fitted["PCC"].items(X).posteriors[:, 1]
    found = fitted["PCC"].predict_interval(X, n_bootstrap=4000, sample_weight=weights)
    assert found.prevalence[1] == pytest.approx(np.average(posteriors, weights=weights))
    low, high = np.quantile(found.replicates[:, 1], [0.025, 0.975])
    residual = weights * (posteriors - found.prevalence[1])
    expected = 2 * 1.96 * np.sqrt((residual**2).sum()) / weights.sum()
    assert high - low == pytest.approx(expected, rel=0.06)
    # The least width is that of a count among the effective number of items.
    n = weights.sum() ** 2 / (weights**2).sum()
    p = found.prevalence[1]
    z = 1.959964
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    # Of the rounded size.
    assert found.low[1] == pytest.approx(middle - half, abs=2e-3)
    assert found.high[1] == pytest.approx(middle + half, abs=2e-3)


@pytest.mark.parametrize("name", ["PCC", "PACC"])
def test_items_of_no_weight_are_no_part_of_a_replicate(fitted, name):
    X, _ = draw(40, 0.3, 3)
    weights = np.zeros(40)
    weights[[5, 9, 20]] = 1.0, 2.0, 1.0
    found = fitted[name].predict_interval(X, n_bootstrap=30, sample_weight=weights)
    alone = fitted[name].predict_interval(X[[5, 9, 20]], n_bootstrap=30, sample_weight=[1, 2, 1])
    np.testing.assert_allclose([found.low, found.high], [alone.low, alone.high], atol=1e-12)


@pytest.mark.parametrize("name", ["PACC", "SLD", "DyS"])
def test_weighted_samples_have_wider_intervals_that_hold_the_weighted_share(fitted, name):
    X, y = draw(600, 0.5, 11)
    weights = np.where(y == 1, 0.25, 1.0)
    found = fitted[name].predict_interval(X, n_bootstrap=200, sample_weight=weights)
    share = np.average(y, weights=weights)
    assert found.low[1] < share < found.high[1]
    plain = fitted[name].predict_interval(X[(y == 0) | (np.arange(600) % 4 == 0)], n_bootstrap=200)
    assert found.high[1] - found.low[1] == pytest.approx(plain.high[1] - plain.low[1], rel=0.4)


@pytest.mark.parametrize("name", ["PACC", "SLD", "SubclassSLD"])
def test_weighted_training_items_have_intervals_too(name):
    X, y = draw(500, 0.5, 12)
    weights = np.where(np.arange(500) % 2 == 0, 3.0, 1.0)
    quantifier = catalogue.quantifiers()[name]().fit(X, y, weights)
    sample, truth = draw(300, 0.3, 13)
    found = quantifier.predict_interval(sample, n_bootstrap=100)
    assert found.low[1] < truth.mean() < found.high[1]
    assert found.high[1] - found.low[1] < 0.4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ACC", "PACC", "DyS", "SLD"])
def test_coverage_under_prior_shift(name):
    cls = catalogue.quantifiers()[name]
    covered = []
    for repeat in range(20):
        quantifier = cls().fit(*draw(1000, 0.5, 1000 + repeat))
        for p in (0.02, 0.5, 0.98):
            pool = [draw(200, p, 10_000 + 100 * repeat + s)[0] for s in range(10)]
            index = np.arange(2000).reshape(10, 200)
            found = quantifier.predict_interval(np.concatenate(pool), index, n_bootstrap=400)
            covered.append((found.low[:, 1] <= p) & (p <= found.high[:, 1]))
    # 600 samples, 20 training sets: .95 give or take about two standard errors; near 0 and 1 the
    # limits of a count cover more.
    assert 0.93 <= np.mean(covered) <= 0.99


@pytest.mark.parametrize("name", each(catalogue.quantifiers()))
def test_refitted_on_all_its_items_a_quantifier_is_itself(fitted, name):
    X, _ = draw(100, 0.3, 9)
    quantifier = fitted[name]
    items = quantifier.items(X)
    before = quantifier.estimate_items(items).prevalence
    everyone = np.arange(len(quantifier.held_out_codes_))
    np.testing.assert_allclose(quantifier.refit(everyone).estimate_items(items).prevalence, before)
    quantifier.refit(everyone[::3])
    np.testing.assert_array_equal(quantifier.estimate_items(items).prevalence, before)


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.995, 0.005])
@pytest.mark.parametrize("method", [SLD, SubclassSLD])
def test_intervals_do_not_collapse_where_nearly_all_items_are_of_one_class(
    method: type[AbstractQuantifier], p: float
) -> None:
    covered, least = [], wilson_limits(np.ones(1), 300, Z)
    for repeat in range(4):
        rng = np.random.default_rng([5, repeat])

        def draw(n: int, p: float, rng: np.random.Generator = rng) -> tuple[np.ndarray, np.ndarray]:
            y = (rng.random(n) < p).astype(int)
            return np.column_stack([3.5 * y, 0 * y]) + rng.normal(size=(n, 2)), y

        quantifier = method(cv=20).fit(*draw(1000, 0.5))  # type: ignore[call-arg]
        pool = np.vstack([draw(300, p)[0] for _ in range(20)])
        rows = np.arange(len(pool)).reshape(20, -1)
        found = quantifier.predict_interval(pool, rows, n_bootstrap=200, random_state=repeat)
        width = found.high[:, 1] - found.low[:, 1]
        assert (width >= least[1][0] - least[0][0] - 1e-9).all()
        covered += ((found.low[:, 1] <= p) & (p <= found.high[:, 1])).tolist()
    assert np.mean(covered) >= 0.88  # .95 less three standard errors


@pytest.mark.parametrize("of", ["population", "items"])
def test_items_of_which_the_classifier_is_far_surer_than_in_training_tell_nothing(of):
    """A feature in another unit: every probability is 0 or 1, and nothing shows that it holds."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 2)) + 1.5 * y[:, np.newaxis] - 0.75
    fitted = SLD().fit(X, y)
    ordinary = fitted.predict_interval(X[:100], n_bootstrap=50, of=of)
    assert ordinary.high[1] - ordinary.low[1] < 0.3
    found = fitted.predict_interval(X[:100] * 1e5, n_bootstrap=50, of=of)
    assert (found.low.tolist(), found.high.tolist()) == ([0, 0], [1, 1])
    assert not found.informative.any()


def test_an_interval_shows_itself_in_one_line_and_as_a_table():
    fitted = SLD().fit(np.arange(40.0)[:, None], ["<no>"] * 20 + ["yes"] * 20)
    X = np.arange(10.0, 30.0)[:, None]
    one = fitted.predict_interval(X, n_bootstrap=20)
    assert repr(one).startswith("PrevalenceInterval(<no>: ")
    assert "\n" not in repr(one)
    assert "<th>&lt;no&gt;</th>" in one._repr_html_()
    several = fitted.predict_interval(X, [[0, 1, 2], [3, 4, 5]], n_bootstrap=20)
    assert repr(several) == "PrevalenceInterval(2 samples, 2 classes; level=0.95)"
    frame = several.to_frame()
    assert frame.columns == ["sample", "class", "share", "low", "high"]
    assert frame["low"].to_numpy().reshape(2, 2).tolist() == several.low.tolist()
    region = fitted.predict_region(X, n_bootstrap=20)
    assert repr(region).startswith("Region('ellipse', centre=[")


def test_a_frame_names_the_classes():
    fitted = SLD().fit(np.arange(40.0)[:, None], [0] * 20 + [1] * 20)
    X, samples = np.arange(9.0, 31.0)[:, None], [[0, 1, 2], [3, 4]]
    frame = fitted.predict_frame(X, samples)
    assert frame.columns == ["0", "1"]
    assert (frame.to_numpy() == fitted.predict(X, samples)).all()
    assert fitted.predict_frame(X).shape == (1, 2)
