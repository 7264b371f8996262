"""Rates behind verdicts: the right estimator for each design, and bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quantshift.errors import DataError, UserError
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.findings import JudgeFindings
from quantshift.judging.items.judged_items import Settings
from tests.found import codes_of, numbers_of
from tests.judging.made import coded

INSIST = Settings(insist=True)


def holds(judged, truth):
    return judged.shares.low[1] <= truth <= judged.shares.high[1]


def width(judged):
    return (judged.shares.high - judged.shares.low)[1]


@pytest.mark.parametrize("design", ["random", "by-verdict", "by-label", None])
def test_every_design_finds_the_rate(judging, design):
    choose = {"by-verdict": judging.by_verdict, "by-label": judging.by_label}
    labels = choose.get(design, judging.random)(201 if design is None else 200)
    assert holds(estimate(coded(judging.verdicts, labels), design), judging.y.mean())


def test_a_contradiction_is_one_line_that_names_the_design(judging):
    labels = judging.by_label(100)
    with pytest.raises(UserError, match="looks like by-label") as error:
        estimate(coded(judging.verdicts, labels), "random")
    assert "\n" not in str(error.value)
    assert estimate(coded(judging.verdicts, labels), "random", INSIST).check.ok is False


def test_the_guess_is_said(judging):
    found = estimate(coded(judging.verdicts, judging.by_label(100)))
    assert found.design.name == "by-label"
    guessed = numbers_of(found.findings, JudgeFindings.DESIGN_GUESSED)
    assert guessed["design"] == "by-label"
    assert "50 labels of each class" in guessed["why"]


def test_a_second_judge_helps(judging):
    second = np.where(judging.rng.random(2000) < 0.9, judging.y, 1 - judging.y)
    both = np.column_stack([judging.verdicts, second])
    for design, labels in (
        ("random", judging.random(200)),
        ("by-label", judging.by_label(200)),
        ("by-verdict", judging.by_verdict(200)),
    ):
        one = estimate(coded(judging.verdicts, labels), design)
        two = estimate(coded(both, labels), design)
        assert holds(two, judging.y.mean())
        assert width(two) < 1.25 * width(one)
        assert len(two.judges) == 2


@pytest.mark.parametrize("sign", [1, -1])
def test_scores_alone_rising_or_falling(judging, sign):
    score = sign * judging.score
    for design, labels in (("random", judging.random(150)), ("by-label", judging.by_label(150))):
        found = estimate(coded(None, labels, score=score), design)
        assert holds(found, judging.y.mean())
        assert found.judges == ()


def test_verdicts_that_are_no_class(judging):
    v = np.where(judging.rng.random(2000) < 0.1, 2, judging.verdicts)
    with pytest.raises(DataError, match="say what class"):
        coded(v, judging.random(100))
    for design, labels in (("random", judging.random(150)), ("by-label", judging.by_label(150))):
        found = estimate(coded(v, labels, says=[[0, 1, -1]]), design)
        assert holds(found, judging.y.mean())
        assert np.isnan(found.judges[0].kappa)
        assert found.judges[0].rates.shape == (2, 3)


def test_quality_of_a_judge_under_each_design(judging):
    for design, labels in (
        ("random", judging.random(400)),
        ("by-verdict", judging.by_verdict(400)),
        ("by-label", judging.by_label(400)),
    ):
        (found,) = estimate(coded(judging.verdicts, labels), design).judges
        assert found.rates_low[1, 1] <= 0.95 <= found.rates_high[1, 1] + 0.01
        assert found.rates_low[0, 0] - 0.01 <= 0.8 <= found.rates_high[0, 0]
        agree = (judging.verdicts == judging.y).mean()
        p, q = judging.y.mean(), judging.verdicts.mean()
        chance = p * q + (1 - p) * (1 - q)
        assert found.kappa_low <= (agree - chance) / (1 - chance) <= found.kappa_high
        assert found.naive[1] == pytest.approx(q)


def test_labels_for_half_the_width(judging):
    found = estimate(coded(judging.verdicts, judging.random(100)), "random")
    more = found.labels_for_half_width
    assert 300 < more < 1000
    again = estimate(coded(judging.verdicts, judging.random(more)), "random", INSIST)
    assert width(again) / width(found) == pytest.approx(0.5, abs=0.12)


def test_a_verdict_of_one_value(judging):
    ones = np.ones(2000, dtype=int)
    random = estimate(coded(ones, judging.random(101)), "random")
    assert holds(random, judging.y.mean())
    assert JudgeFindings.ONE_VERDICT in codes_of(random.findings)
    by_label = estimate(coded(ones, judging.by_label(100)))
    assert width(by_label) > 0.6


def test_labels_of_one_class():
    verdicts = np.repeat([0, 1], [100, 900])
    labels = np.full(1000, -1)
    labels[90:130] = 1
    for design in ("random", "by-verdict", "by-label"):
        found = estimate(coded(verdicts, labels), design, INSIST)
        assert found.shares.high[0] > 0.05
        assert JudgeFindings.ONE_CLASS_LABELLED in codes_of(found.findings)


def test_labels_that_are_the_verdicts(judging):
    labels = np.where(np.arange(2000) < 80, judging.verdicts, -1)
    found = estimate(coded(judging.verdicts, labels), "random")
    assert width(found) > 0.03
    assert JudgeFindings.PERFECT_AGREEMENT in codes_of(found.findings)


@pytest.mark.parametrize("design", ["random", "by-verdict", "by-label", "elsewhere"])
def test_three_labels_are_a_wide_answer(judging, design):
    found = estimate(coded(judging.verdicts, judging.labels([0, 1, 2])), design, INSIST)
    assert width(found) > 0.3


def test_items_without_any_label_are_refused(judging):
    with pytest.raises(DataError, match="no item is labelled: label some, or give"):
        estimate(coded(judging.verdicts, np.full(2000, -1)))


def test_an_unknown_design_or_level_is_one_clear_line(judging):
    items = coded(judging.verdicts, judging.random(50))
    with pytest.raises(UserError, match="unknown design of the labels 'at random'"):
        estimate(items, "at random")
    with pytest.raises(UserError, match="level"):
        estimate(items, "random", Settings(level=1.5))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_counts_have_an_answer(data):
    K = data.draw(st.integers(2, 4))
    n = data.draw(st.integers(5, 60))
    verdicts = data.draw(st.lists(st.integers(0, K - 1), min_size=n, max_size=n))
    labels = data.draw(st.lists(st.integers(-1, K - 1), min_size=n, max_size=n))
    design = data.draw(st.sampled_from(["random", "by-verdict", "by-label", "elsewhere"]))
    try:
        found = estimate(coded(verdicts, labels, K), design, INSIST).shares
    except UserError:
        assert max(labels) < 0 or min(labels) >= 0
        return
    assert found.prevalence.sum() == pytest.approx(1)
    assert (found.low >= 0).all()
    assert (found.low <= found.prevalence).all()
    assert (found.prevalence <= found.high).all()
    assert (found.high <= 1 + 1e-12).all()
    assert np.isfinite(found.influence).all()
