"""Labels chosen by label: the joint posterior of the other items, and those that are known."""

import numpy as np
import pytest

from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.items.judged_items import Settings
from quantshift.labelling.transfer import prevalences
from tests.judging.made import coded


def test_the_estimate_is_that_of_the_joint_posterior_and_of_known_items(judging):
    labels, v = judging.by_label(200), judging.verdicts
    known = labels >= 0
    F = np.array([[((labels == y) & (v == c)).sum() for c in (0, 1)] for y in (0, 1)])
    rest = prevalences(F, [np.bincount(v[~known])])
    found = estimate(coded(v, labels), "by-label", Settings(of="population")).shares
    assert found.prevalence == pytest.approx(0.9 * rest.prevalence[0] + 0.1 * 0.5)
