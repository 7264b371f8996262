"""Labels from elsewhere: a range, unless the user declares what carries over."""

import numpy as np
import polars as pl
import pytest
from scipy import optimize, special, stats

from quantshift.claims import Kind
from quantshift.errors import UserError
from quantshift.judging import judge
from quantshift.judging.designs.parts.moving_rates import moving_shares
from quantshift.judging.designs.parts.transfer_checks import Youden, fit_p_value, moved_rates
from quantshift.judging.findings import JudgeAdvice, JudgeFindings, JudgeTableFindings
from tests.found import codes_of, numbers_of


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


def test_a_good_judge_has_a_range_and_a_middling_one_the_advice_to_label_30():
    for rates, kind in (((0.99, 0.98), Kind.RANGE), ((0.9, 0.85), Kind.CANNOT)):
        result, truth = transferred(0.6, 0.5, *rates)
        batch = result.overall
        assert batch.kind == kind
        assert numbers_of(batch.findings, JudgeAdvice.LABEL_AT_RANDOM) == {"n": 30}
        assert lead(result).low <= truth <= lead(result).high
        assert JudgeFindings.SPREAD_ASSUMED in codes_of(batch.findings)


def test_both_assumptions_stand_beside_it_and_one_can_be_declared():
    result, truth = transferred(0.8, 0.4)
    batch = result.overall
    by_rates, by_verdicts = batch.alternatives
    # What nobody declares is wider than both.
    assert lead(result).low < min(by_verdicts.low, truth)
    assert lead(result).high > by_rates.high
    assert by_rates.low <= truth <= by_rates.high
    assert "5 points lower  5 points higher" in result.to_text(details=True)
    declared, truth = transferred(0.8, 0.4, assume="rates")
    assert declared.overall.kind is Kind.CONDITIONAL
    assert lead(declared).low == by_rates.low
    declared, _ = transferred(0.8, 0.4, assume="verdicts")
    assert (lead(declared).low, lead(declared).high) == (by_verdicts.low, by_verdicts.high)
    assert declared.overall.assumed.startswith("A verdict means the same here")
    with pytest.raises(UserError, match="unknown assumption 'rate'"):
        transferred(0.8, 0.4, assume="rate")


def sources(n_sources, n, spread, seed):
    """Labelled items of sources whose shares and rates move; the last one is the new source."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_sources + 1):
        share, *rates = special.expit([0.3, 2.4, 2.0] + spread * rng.normal(size=3))
        counts = rng.binomial(1, share, n).sum()
        right = rng.binomial(counts, rates[0]), rng.binomial(n - counts, rates[1])
        found.append([[right[1], n - counts - right[1]], [counts - right[0], right[0]]])
    return np.array(found, dtype=float)


@pytest.mark.parametrize(("n_sources", "spread"), [(1, 0.3), (1, 0.7), (8, 0.2), (8, 0.8)])
def test_limits_hold_for_sources_that_move(n_sources, spread):
    held, widths = [], []
    for seed in range(150):
        *there, here = sources(n_sources, 300, spread, 900 + seed)
        _, low, high = moving_shares(np.array(there), here.sum(axis=0), 0.95, seed)
        held.append(low[1] <= here[1].sum() / here.sum() <= high[1])
        widths.append(high[1] - low[1])
    assert np.mean(held) >= 0.93 - 2 * np.sqrt(0.05 * 0.95 / 150)
    if (n_sources, spread) == (8, 0.2):
        # Several sources that hardly move show it.
        assert np.mean(widths) < 0.3


def test_sources_are_named_by_a_column_of_the_labelled_table():
    here = table(2000, 0.6, 0.9, 0.85, 1).drop("human")
    there = pl.concat(
        [
            table(200, share, 0.9, 0.85, 3 + i).with_columns(system=pl.lit(f"s{i}"))
            for i, share in enumerate((0.5, 0.55, 0.6, 0.65, 0.7, 0.6))
        ]
    )
    asked = {"verdict": "judge", "label": "human", "positive": "good", "labelled": there}
    alone, known = judge(here, **asked), judge(here, **asked, source="system")
    assert numbers_of(known.overall.findings, JudgeFindings.SPREAD_LEARNT) == {"n": 6}
    assert lead(known).high - lead(known).low < lead(alone).high - lead(alone).low
    with pytest.raises(UserError, match="no column 'place'"):
        judge(here, **asked, source="place")
    with pytest.raises(UserError, match="of the second table"):
        judge(table(200, 0.6, 0.9, 0.85, 1), verdict="judge", label="human", source="judge")


def test_a_judge_that_hardly_tells_classes_apart_carries_nothing_over():
    result, truth = transferred(0.4, 0.42, 0.56, 0.56)
    assert result.overall.kind is Kind.CANNOT
    assert lead(result).low <= truth <= lead(result).high
    youden = numbers_of(result.overall.findings, JudgeFindings.UNINFORMATIVE_JUDGE)
    assert youden["low"] < 0 < youden["high"]


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
    matched = numbers_of(result.findings, JudgeTableFindings.MATCHED_VERDICTS)
    assert "'1' as 'pass'" in matched["pairs"]
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
