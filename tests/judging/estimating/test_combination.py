"""Labels of the items and labels from elsewhere, together."""

import numpy as np
import pytest

from quantshift.errors import UserError
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.items.judged_items import ExternalLabels
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
    assert both.shares.low[1] <= judging.y.mean() <= both.shares.high[1]
    assert both.n_labelled == 380
    assert any("weight" in note for note in both.notes)


def test_labels_of_items_that_are_judged_differently_are_not_used(judging, other):
    labels = judging.random(80)
    here = estimate(coded(judging.verdicts, labels), "random")
    wrong = ExternalLabels(other.labels, 1 - other.verdicts)
    found = estimate(coded(judging.verdicts, labels, external=wrong), "random")
    assert found.shares.prevalence == pytest.approx(here.shares.prevalence)
    assert any("not used" in note for note in found.notes)


def test_all_labels_from_elsewhere_belong_in_one_table(judging, other):
    items = coded(judging.verdicts, judging.random(80), external=other)
    with pytest.raises(UserError, match="give them as one"):
        estimate(items, "elsewhere")
