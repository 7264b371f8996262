"""Roots that are known."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quantshift.statistics.roots import root_between


@given(root=st.floats(-0.99, 0.99), steep=st.floats(0.01, 1000))
def test_the_root_is_found(root, steep):
    found = root_between(lambda x: math.tanh(steep * (x - root)), -1.0, 1.0)
    assert found == pytest.approx(root, rel=1e-13, abs=1e-13)


def test_a_root_near_zero_keeps_its_digits():
    found = root_between(lambda x: math.log(x) + 30, 1e-14, 1.0)
    assert found == pytest.approx(math.exp(-30), rel=1e-13)


def test_few_evaluations_are_needed():
    calls = []
    root_between(lambda x: calls.append(x) or math.exp(x) - 2, -5.0, 5.0)
    assert len(calls) < 20


def test_an_end_may_be_the_root():
    assert root_between(lambda x: x, 0.0, 1.0) == 0


def test_equal_signs_are_refused():
    with pytest.raises(ValueError, match="different signs"):
        root_between(lambda x: x * x + 1, 0.0, 1.0)
