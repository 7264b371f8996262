"""A known sensitivity and specificity in place of labels."""

import numpy as np
import pytest

from quantshift.claims import Assumption, Kind, Reason
from quantshift.errors import DataError, UserError
from quantshift.judging import judge
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.sensitivity import GivenRates
from tests.judging.made import coded

SHARP = GivenRates.of(0.95, 0.8)


def test_the_estimate_is_that_of_rogan_and_gladen(judging):
    none = np.full(2000, -1)
    sharp = estimate(coded(judging.verdicts, none, rates=SHARP))
    q = judging.verdicts.mean()
    assert sharp.shares.prevalence[1] == pytest.approx((q + 0.8 - 1) / 0.75, abs=0.005)
    assert (sharp.design.name, sharp.n_labelled, sharp.findings) == ("given", 0, ())
    rates = GivenRates.of((0.95, 0.9, 0.98), (0.8, 0.65, 0.9))
    vague = estimate(coded(judging.verdicts, none, rates=rates))
    widths = [found.shares.high[1] - found.shares.low[1] for found in (vague, sharp)]
    assert widths[0] > 1.5 * widths[1]


def test_rates_that_the_verdicts_contradict_are_an_error(judging):
    none = np.full(2000, -1)
    rates = GivenRates.of(0.3, 0.95)
    with pytest.raises(UserError, match=r"with these rates it would be between 5\.0% and 30\.0%"):
        estimate(coded(judging.verdicts, none, rates=rates))
    assert estimate(coded(judging.verdicts, none, rates=SHARP)).check.ok
    said = ["pass"] * 735 + ["fail"] * 265
    with pytest.raises(UserError, match=r"73\.5% of the verdicts are 'pass'"):
        judge(verdict=said, sensitivity=0.6, specificity=0.9)
    # Limits of the rates count, and so does chance.
    wide = judge(verdict=said, sensitivity=(0.6, 0.45, 0.74), specificity=0.9)
    assert wide.overall.shares[1].high == pytest.approx(1, abs=0.01)
    assert judge(verdict=said, sensitivity=0.7, specificity=0.9).overall.shares[1].high > 0.9


def test_what_does_not_go_with_known_rates(judging):
    none = np.full(2000, -1)
    for items, words in (
        (coded(judging.verdicts, judging.random(20), rates=SHARP), "not both"),
        (coded(judging.verdicts, none, 3, rates=SHARP), "between two classes"),
        (coded(np.column_stack([judging.verdicts] * 2), none, rates=SHARP), "one judge"),
        (coded(None, none, score=judging.score, rates=SHARP), "one judge"),
    ):
        with pytest.raises(UserError, match=words):
            estimate(items)
    with pytest.raises(DataError, match="one of the two classes"):
        estimate(coded(judging.verdicts, none, says=[[0, -1]], rates=SHARP))


def test_rates_belong_to_the_verdicts_that_say_a_class():
    """With one verdict the sensitivity was shown as 5%; with three it ended in a traceback."""
    rates = {"sensitivity": 0.99, "specificity": 0.9, "classes": ["fail", "pass"]}
    found = judge(verdict=["pass"] * 400, **rates)
    shown = {(r.label, r.verdict): r.estimate for r in found.overall.judges[0].rates}
    assert shown == pytest.approx({("fail", "pass"): 0.1, ("pass", "pass"): 0.99})
    found = judge(verdict=["pass", "ok", "fail"] * 200, map={"ok": "pass"}, **rates)
    shown = {(r.label, r.verdict): r.estimate for r in found.overall.judges[0].rates}
    # How often each of "ok" and "pass" is said is not known, only how often one of them is.
    assert shown == pytest.approx({("fail", "fail"): 0.9, ("pass", "fail"): 0.01})
    assert found.overall.judges[0].naive["pass"] == pytest.approx(2 / 3)
    assert "90%" in found.to_text(details=True)
    assert "<title>" in found.page()


def test_an_answer_from_given_rates_says_if():
    said = ["yes"] * 30 + ["no"] * 170
    answer = judge(verdict=said, sensitivity=0.9, specificity=0.95)
    grounds = answer.overall.grounds
    assert (grounds.kind, grounds.reason) == (Kind.CONDITIONAL, Reason.DECLARED)
    assert grounds.rests_on is Assumption.GIVEN_RATES
    assert Assumption.GIVEN_RATES.words in answer.to_text().splitlines()[0]
    assert "as these rates imply" in answer.to_text()
