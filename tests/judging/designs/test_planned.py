"""Labels of a plan: strata, or probabilities of being chosen."""

import numpy as np
import pytest

from quantshift.errors import DataError, UserError
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.items.judged_items import KnownDraw
from tests.judging.made import coded


def test_probabilities_of_being_chosen_do_what_strata_do(judging):
    labels, v = judging.by_verdict(100), judging.verdicts
    sizes = np.bincount(v)
    inclusion = np.where(labels >= 0, 50 / sizes[v], np.nan)
    by_strata = estimate(coded(v, labels, drawn=KnownDraw(strata=v)))
    by_inclusion = estimate(coded(v, labels, drawn=KnownDraw(inclusion)))
    assert by_strata.design.name == by_inclusion.design.name == "planned"
    assert by_inclusion.shares.prevalence == pytest.approx(by_strata.shares.prevalence)
    assert by_inclusion.shares.high == pytest.approx(by_strata.shares.high, abs=0.002)


@pytest.mark.parametrize("inclusion", [np.full(2000, np.nan), np.zeros(2000), np.ones(1999)])
def test_labels_without_a_probability_are_refused(judging, inclusion):
    with pytest.raises(DataError, match="needs the probability, above 0"):
        coded(judging.verdicts, judging.by_verdict(100), drawn=KnownDraw(inclusion))


def test_another_design_cannot_be_stated(judging):
    items = coded(
        judging.verdicts, judging.by_verdict(100), drawn=KnownDraw(strata=judging.verdicts)
    )
    with pytest.raises(UserError, match="is planned, not random: leave it out"):
        estimate(items, "random")


def test_of_many_probabilities_similar_ones_are_a_stratum():
    """Where each stratum has one class, labels leave no doubt but that of classes nobody saw."""
    n = 1200
    y = (np.arange(n) >= 600).astype(int)
    inclusion = np.linspace(0.1, 0.9, n)
    rows = np.random.default_rng(0).random(n) < inclusion
    drawn = KnownDraw(np.where(rows, inclusion, np.nan))
    found = estimate(coded(np.zeros(n, dtype=int), np.where(rows, y, -1), drawn=drawn)).shares
    whole = y[rows].mean() * (1 - y[rows].mean()) / rows.sum()
    assert found.by_labels[1] < whole / 3
