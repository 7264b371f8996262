"""Rates that a user knows, with and without limits."""

import pytest
from scipy import stats

from quantshift.errors import UserError
from quantshift.judging.sensitivity import GivenRate, GivenRates


def test_a_rate_with_limits_is_a_beta_distribution_of_that_width():
    a, b = GivenRate("sensitivity", 0.9, 0.85, 0.94).beta()
    low, high = stats.beta.ppf([0.025, 0.975], a, b)
    assert a / (a + b) == pytest.approx(0.9)
    assert high - low == pytest.approx(0.09, abs=1e-6)
    with pytest.raises(UserError, match="in order"):
        GivenRate("sensitivity", 0.9, 0.95, 0.99).beta()


def test_both_rates_or_none():
    assert GivenRates.of(None, None) is None
    assert GivenRates.of(0.9, (0.8, 0.7, 0.9)) == GivenRates(
        GivenRate("sensitivity", 0.9, 0.9, 0.9), GivenRate("specificity", 0.8, 0.7, 0.9)
    )
    with pytest.raises(UserError, match="give both"):
        GivenRates.of(0.9, None)
