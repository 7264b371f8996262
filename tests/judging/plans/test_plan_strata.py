"""Rates to expect in strata."""

import numpy as np
import pytest

from quantshift.judging.designs.parts import plan_strata
from tests.judging.made import coded


def test_a_stratum_in_which_nobody_was_seen_gets_labels_like_its_neighbours():
    sizes = np.array([1000, 500, 250, 100, 50])
    counts = np.array([[300.0, 1.0], [100.0, 3.0], [50.0, 0.0], [20.0, 5.0], [5.0, 15.0]])
    rate = plan_strata._smooth(counts, sizes)[:, 1]
    assert (np.diff(rate) > 0).all()
    assert 0.01 < rate[2] < 0.2
    # The curve of a logistic regression meets the totals.
    assert (counts.sum(axis=1) * rate).sum() == pytest.approx(counts[:, 1].sum(), rel=1e-6)


def test_a_curve_through_labels_of_one_class_alone():
    rate = plan_strata._smooth(
        np.array([[10.0, 0.2], [10.0, 0.1], [9.0, 0.1]]), np.array([50, 30, 20])
    )
    assert np.isfinite(rate).all()
    assert rate[:, 1].max() < 0.1


def test_a_verdict_that_is_no_class_leaves_all_classes_open(judging):
    v = np.where(np.arange(2000) < 300, 2, judging.verdicts)
    found = plan_strata.strata_by_verdict(coded(v, np.full(2000, -1), says=[[0, 1, -1]]))
    assert found.names == ("verdict 0", "verdict 1", "verdict 2")
    assert found.rates[2] == pytest.approx([0.5, 0.5])
    assert found.rates[0, 0] > 0.9


def test_strata_taken_together_are_all_items(judging):
    strata = plan_strata.strata_by_verdict(coded(judging.verdicts, np.full(2000, -1)))
    whole = strata.together()
    assert whole.sizes.tolist() == [2000]
    assert whole.rates[0] == pytest.approx(strata.sizes @ strata.rates / 2000)


def test_scores_that_are_no_probabilities_say_nothing_of_the_share():
    items = coded(None, np.full(3, -1), score=[0.2, 0.3, 0.7])
    for score, share in (([0.2, 0.3, 0.7], 0.4), ([0.0, 0.5, 1.6], 0.01), ([-0.1, 0.5, 1], 0.01)):
        shares = plan_strata._expected_shares(items, np.array(score), random_so_far=False)
        assert shares == pytest.approx([share])


def test_strata_of_scores_that_are_no_probabilities_have_rates_by_their_place():
    score = np.linspace(0, 2, 400)
    for scale, expected in ((0.5, True), (1.0, False)):
        items = coded(None, np.full(400, -1), score=scale * score)
        found = plan_strata.strata_by_score(items, random_so_far=True)
        means = np.bincount(found.codes, weights=scale * score) / found.sizes
        assert ((found.rates >= 0) & (found.rates <= 1)).all()
        assert np.allclose(found.rates[:, 1], means) == expected
