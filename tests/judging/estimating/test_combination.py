"""Labels of the items and labels from elsewhere, together."""

import numpy as np
import pytest

from quantshift.errors import UserError
from quantshift.judging.estimating.combination import averaged, weight_of_first
from quantshift.judging.estimating.differences import correlation, distances_to_limits
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.findings import JudgeFindings
from quantshift.judging.items.judged_items import ExternalLabels
from tests.found import numbers_of
from tests.judging.made import coded


@pytest.fixture
def other():
    rng = np.random.default_rng(5)
    y = (rng.random(300) < 0.5).astype(int)
    v = np.where(rng.random(300) < np.where(y == 1, 0.95, 0.8), y, 1 - y)
    return ExternalLabels(y, v)


def test_labels_here_and_elsewhere_are_used_together(judging, other):
    labels = judging.random(80)
    here = estimate(coded(judging.verdicts, labels), "random")
    there = estimate(coded(judging.verdicts, np.full(2000, -1), external=other))
    both = estimate(coded(judging.verdicts, labels, external=other), "random")
    widths = [(found.shares.high - found.shares.low)[1] for found in (both, here, there)]
    assert widths[0] < min(widths[1:])
    assert abs(both.shares.prevalence[1] - judging.y.mean()) < widths[0]
    assert both.n_labelled == 380
    assert 0 < numbers_of(both.findings, JudgeFindings.ELSEWHERE_USED)["weight"] < 1


def test_labels_of_items_that_are_judged_differently_are_not_used(judging, other):
    labels = judging.random(80)
    here = estimate(coded(judging.verdicts, labels), "random")
    wrong = ExternalLabels(other.labels, 1 - other.verdicts)
    found = estimate(coded(judging.verdicts, labels, external=wrong), "random")
    assert found.shares.prevalence == pytest.approx(here.shares.prevalence)
    assert numbers_of(found.findings, JudgeFindings.TREATED_DIFFERENTLY)["p_value"] < 0.05


def test_all_labels_from_elsewhere_belong_in_one_table(judging, other):
    items = coded(judging.verdicts, judging.random(80), external=other)
    with pytest.raises(UserError, match="combine them in one table"):
        estimate(items, "elsewhere")


def test_the_weight_makes_the_error_of_the_average_least():
    a, b, r = np.array([2.0]), np.array([1.5]), np.array([0.25])
    weight = weight_of_first(a, b, r)
    assert weight == pytest.approx(1.5 / 4.75)
    least = averaged(a, b, r, weight)
    assert (least < [averaged(a, b, r, weight + step) for step in (-0.01, 0.01)]).all()


def test_limits_and_influence_are_averaged_with_the_same_weight(judging, other):
    items = coded(judging.verdicts, judging.random(80), external=other)
    here, there = estimate(items.without_external(), "random"), estimate(items.without_labels())
    both = estimate(items, "random")
    w = 1 - numbers_of(both.findings, JudgeFindings.ELSEWHERE_USED)["weight"]
    assert abs(w - 0.5) > 0.02
    ours, theirs, shares = here.shares, there.shares, both.shares
    assert shares.influence == pytest.approx(w * ours.influence + (1 - w) * theirs.influence)
    assert shares.influence_external == pytest.approx((1 - w) * theirs.influence_external)
    r = correlation(here, there, paired=True, shared=False)
    for i, end in enumerate(("low", "high")):
        first, second = distances_to_limits(here)[i], distances_to_limits(there)[i]
        square = (w * first) ** 2 + ((1 - w) * second) ** 2 + 2 * r * w * (1 - w) * first * second
        distance = np.abs(getattr(shares, end) - shares.prevalence)
        assert distance == pytest.approx(np.sqrt(square))
