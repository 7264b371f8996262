"""Two intervals, one under each assumption."""

import numpy as np
import pytest
from scipy.stats import norm

from quantshift import GuardedSLD
from quantshift.base.seeding import generator
from quantshift.claims import Kind, Reason
from quantshift.quantifiers import guarded_intervals
from quantshift.quantifiers.likelihood.guarded_intervals import either_limits
from quantshift.quantifiers.likelihood.two_intervals import agreed, around_mean, two_intervals


def test_the_reach_of_both():
    """2.5 errors of SLD, and a tenth of a standard deviation besides the error of counting."""
    prior, covariate, error = (
        np.array([[0.2, 0.8]]),
        np.array([[0.5, 0.5]]),
        np.array([[0.02, 0.02]]),
    )
    h = around_mean(covariate, np.array([400.0]))
    assert h == pytest.approx(np.hypot(0.1 * 0.5, 1.96 * 0.5 / 20))
    low, high = two_intervals((prior, error), covariate, h)
    assert low[0, 0] == pytest.approx([0.15, 0.75])
    assert high[0, 0] == pytest.approx([0.25, 0.85])
    assert low[0, 1] == pytest.approx(0.5 - h[0])
    assert high[0, 1] == pytest.approx(0.5 + h[0])


def test_shares_stay_between_0_and_1():
    p = np.array([[0.01, 0.99]])
    low, high = two_intervals((p, np.full_like(p, 0.1)), p, np.full_like(p, 0.2))
    assert low.min() == 0
    assert high.max() == 1


COEFFICIENTS = np.array([1.1, 0.8, 0.4])


def labelled(n, p, rng):
    y = rng.random(n) < p
    return rng.normal(size=(n, 3)) + np.outer(y, COEFFICIENTS), np.where(y, "b", "a")


@pytest.fixture(scope="module")
def answers():
    """400 items of which three fifths are positive, after training on 1,500 with a fifth."""
    quantifier = GuardedSLD(mode="columns").fit(*labelled(1500, 0.2, np.random.default_rng(0)))
    X, y = labelled(400, 0.6, np.random.default_rng(13))
    items = quantifier.items(X)
    return quantifier, items, y


def test_a_sample_that_may_be_of_either_shift_has_both_and_their_hull(answers):
    quantifier, items, y = answers
    found = guarded_intervals(quantifier, items, [np.arange(400)])
    (grounds,) = found.examined.grounds
    assert grounds.kind is Kind.EITHER
    low, high = either_limits(found.examined, found.level)
    assert found.low[0] == pytest.approx(low[0].min(axis=0))
    assert found.high[0] == pytest.approx(high[0].max(axis=0))
    assert low[0, 0, 1] <= (y == "b").mean() <= high[0, 0, 1]
    assert high[0, 1, 1] < low[0, 0, 1]
    assert (high - low).sum(axis=1).max() < found.high[0, 1] - found.low[0, 1]


def test_limits_at_another_level_are_as_much_further_as_normal_errors(answers):
    quantifier, items, _ = answers
    examined = quantifier.examined(quantifier.estimate_items(items, [np.arange(400)]))
    low, high = either_limits(examined, 0.95)
    wider_low, wider_high = either_limits(examined, 0.99)
    ratio = norm.ppf(0.995) / norm.ppf(0.975)
    assert wider_high - wider_low == pytest.approx(ratio * (high - low))


@pytest.mark.slow
@pytest.mark.parametrize("world", ["prior", "picked"])
def test_one_of_the_two_holds_in_either_world(world):
    """Items of another share, or picked by what the model says of them.

    On data that chose no constant: at least .93 less two standard errors over training sets.
    """
    held = []
    for repeat in range(24):
        rng = generator(0, purpose="either", world=world, repeat=repeat)
        quantifier = GuardedSLD(mode="columns").fit(*labelled(1000, 0.25, rng))
        X, y = labelled(6000, 0.25, rng)
        items = quantifier.items(X)
        scores = quantifier.unguarded_items(items).posteriors[:, 1]
        chance = scores if world == "picked" else np.where(y == "b", 6.0, 1.0)
        rows = [rng.choice(6000, 400, p=chance / chance.sum(), replace=False) for _ in range(3)]
        found = guarded_intervals(quantifier, items, rows, n_bootstrap=100)
        low, high = either_limits(found.examined, found.level)
        for i, drawn in enumerate(rows):
            if found.examined[i].grounds.kind is Kind.EITHER:
                truth = (y[drawn] == "b").mean()
                held.append(bool(((low[i, :, 1] <= truth) & (truth <= high[i, :, 1])).any()))
    assert len(held) >= 20
    error = np.sqrt(0.93 * 0.07 / (len(held) / 3))
    assert np.mean(held) >= 0.93 - 2 * error


def test_where_both_agree_the_estimate_is_between_them_and_near_pcc_if_nothing_changed():
    covariate = np.array([[0.8, 0.2]])
    error = np.full_like(covariate, 0.03)
    near, far = np.array([[0.799, 0.201]]), np.array([[0.3, 0.7]])
    assert agreed((near, error), covariate)[0, 1] == pytest.approx(0.2, abs=1e-4)
    assert agreed((far, error), covariate)[0, 1] == pytest.approx(0.45, abs=0.01)
    # The distance in units of the error decides: d^2 / (d^2 + 2 e^2) of half the way.
    one = np.array([[0.77, 0.23]])
    assert agreed((one, error), covariate)[0, 1] == pytest.approx(0.2 + 0.03 / 6)
    assert agreed((one, 0 * error), covariate).sum() == pytest.approx(1)


@pytest.mark.slow
def test_with_no_shift_the_estimate_errs_at_most_a_tenth_more_than_pcc():
    errors = []
    for repeat in range(12):
        rng = generator(0, purpose="agreement without a shift", repeat=repeat)
        quantifier = GuardedSLD(mode="columns").fit(*labelled(800, 0.3, rng))
        X, y = labelled(4000, 0.3, rng)
        items = quantifier.items(X)
        rows = [rng.choice(4000, 200, replace=False) for _ in range(8)]
        examined = quantifier.examined(quantifier.estimate_items(items, rows))
        for told, drawn in zip(examined, rows, strict=True):
            if told.grounds.reason is Reason.AGREEMENT:
                truth = (y[drawn] == "b").mean()
                errors.append([abs(told.estimate[1] - truth), abs(told.covariate[1] - truth)])
    assert len(errors) >= 50
    own, pcc = np.mean(errors, axis=0)
    paired = np.std(np.diff(errors, axis=1)) / np.sqrt(len(errors))
    assert own <= 1.1 * pcc + 2 * paired
