"""Labels from elsewhere: a range, unless the user declares what carries over."""

import numpy as np
import polars as pl
import pytest
from scipy import optimize, special, stats

from quantshift.answers.kinds import CANNOT, INTERVAL, RANGE
from quantshift.errors import UserError
from quantshift.judging import judge
from quantshift.judging.designs.parts.transfer_checks import Youden, fit_p_value, moved_rates


def table(n, share, sensitivity, specificity, seed, *, names=("fail", "pass")):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    v = np.where(rng.random(n) < np.where(y == 1, sensitivity, specificity), y, 1 - y)
    return pl.DataFrame(
        {"judge": np.array(names)[v], "human": np.where(y == 1, "good", "bad")},
    )


def transferred(share_here, share_there, sensitivity=0.9, specificity=0.85, **options):
    here = table(2000, share_here, sensitivity, specificity, 1)
    there = table(300, share_there, sensitivity, specificity, 2)
    options = {"verdict": "judge", "label": "human", "positive": "good", **options}
    return judge(here.drop("human"), labelled=there, **options), (here["human"] == "good").mean()


def lead(result):
    return next(s for s in result.overall.shares if s.label == "good")


def test_youdens_j_is_sensitivity_plus_specificity_minus_one():
    found = Youden.of(np.array([[80.0, 20.0], [10.0, 90.0]]), 0.95)
    assert found.estimate == pytest.approx(0.7)
    assert found.low < 0.7 < found.high
    assert found.is_informative
    assert not Youden.of(np.array([[56.0, 44.0], [44.0, 56.0]]), 0.95).is_informative
    # A judge that always says the contrary tells the classes apart too.
    assert Youden.of(np.array([[10.0, 90.0], [90.0, 10.0]]), 0.95).is_informative
    assert Youden.of(np.ones((3, 3)), 0.95) is None


def test_where_assumptions_agree_the_range_is_that_of_both():
    result, truth = transferred(0.6, 0.6)
    batch = result.overall
    assert batch.kind == RANGE
    assert batch.settle.startswith("Label 100 random items")
    assert "range has the limits of both" in batch.assumed
    assert lead(result).low <= truth <= lead(result).high
    assert lead(result).high - lead(result).low < 0.2
    assert "verdicts cannot show that either holds here" in result.to_text()


def test_where_they_disagree_there_is_a_range_unless_one_is_declared():
    result, truth = transferred(0.8, 0.4)
    batch = result.overall
    assert batch.kind == RANGE
    by_rates, by_verdicts = batch.alternatives
    assert (lead(result).low, lead(result).high) == (by_verdicts.low, by_rates.high)
    assert by_rates.low <= truth <= by_rates.high
    text = result.to_text()
    assert "Two assumptions about labels from elsewhere give different shares" in text
    assert "Label 100 random items of this table to settle it" in text
    assert "5 points lower  5 points higher" in text
    declared, truth = transferred(0.8, 0.4, assume="rates")
    assert declared.overall.kind == INTERVAL
    assert lead(declared).low == by_rates.low
    declared, _ = transferred(0.8, 0.4, assume="verdicts")
    assert (lead(declared).low, lead(declared).high) == (by_verdicts.low, by_verdicts.high)
    assert declared.overall.assumed.startswith("A verdict means the same here")
    with pytest.raises(UserError, match="unknown assumption 'rate'"):
        transferred(0.8, 0.4, assume="rate")


def test_a_judge_that_hardly_tells_classes_apart_carries_nothing_over():
    result, truth = transferred(0.4, 0.42, 0.56, 0.56)
    assert result.overall.kind in (RANGE, CANNOT)
    assert lead(result).low <= truth <= lead(result).high
    assert "hardly tells the classes apart (Youden's J" in " ".join(result.overall.warnings)


def test_moved_rates_are_those_of_rogan_and_gladen():
    found = moved_rates(np.array([[80.0, 20.0], [10.0, 90.0]]), np.array([40.0, 60.0]))
    expected = {(1, -0.05): 0.4 / 0.65, (1, 0.05): 0.4 / 0.75, (0, -0.05): 0.35 / 0.65}
    for moved in found:
        if (moved.of_class, moved.moved_by) in expected:
            share = expected[moved.of_class, moved.moved_by]
            assert moved.prevalence == pytest.approx([1 - share, share])
    assert len(found) == 4


def test_other_spellings_of_verdicts_are_matched_or_refused():
    options = {"verdict": "judge", "label": "human", "positive": "good"}
    here = table(2000, 0.6, 0.9, 0.85, 1)
    usual = judge(here.drop("human"), labelled=table(300, 0.6, 0.9, 0.85, 2), **options)
    other = table(300, 0.6, 0.9, 0.85, 2, names=("0", "1"))
    result = judge(here.drop("human"), labelled=other, **options)
    assert lead(result) == lead(usual)
    assert any("'1' as 'pass'" in warning for warning in result.warnings)
    for names in (("poor", "fine"), ("fail", "fine")):
        other = table(300, 0.6, 0.9, 0.85, 2, names=names)
        if names[0] == "fail":
            other = other.with_columns(judge=pl.col("judge").replace("fail", "nope"))
        with pytest.raises(UserError, match="write them alike in both tables"):
            judge(here.drop("human"), labelled=other, **options)


def test_verdicts_that_follow_from_the_rates_fit_and_others_do_not():
    rates = np.array([[0.6, 0.2, 0.15, 0.05], [0.05, 0.1, 0.15, 0.7]])
    labelled = 100 * rates
    assert fit_p_value(labelled, 1000 * np.array([0.3, 0.7]) @ rates) == pytest.approx(1, abs=1e-4)
    assert fit_p_value(labelled, np.array([100.0, 800.0, 50.0, 50.0])) < 1e-6
    # Two verdicts of two classes fit whatever they are.
    assert fit_p_value(labelled[:, :2], np.array([1.0, 99.0])) == 1


def test_the_fit_is_that_of_a_search_over_rates_and_shares():
    """The largest likelihood by a general optimiser, of three verdicts."""
    labelled, verdicts = np.array([[20.0, 9.0, 1.0], [3.0, 8.0, 29.0]]), np.array([70.0, 9.0, 40.0])

    def loss(x):
        rates = special.softmax(x[:6].reshape(2, 3), axis=1)
        p = special.expit(x[6])
        mixed = (1 - p) * rates[0] + p * rates[1]
        return -(special.xlogy(labelled, rates).sum() + special.xlogy(verdicts, mixed).sum())

    best = min(optimize.minimize(loss, np.full(7, start)).fun for start in (-0.3, 0.0, 0.3))
    apart = [special.xlogy(c, c / c.sum()).sum() for c in (*labelled, verdicts)]
    expected = stats.chi2.sf(2 * (sum(apart) + best), 1)
    assert 1e-6 < expected < 0.05
    assert fit_p_value(labelled, verdicts) == pytest.approx(expected, rel=1e-2)
