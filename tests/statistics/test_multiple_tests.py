"""P-values adjusted for their number."""

import pytest

from quantshift.statistics.multiple_tests import holm


def test_p_values_are_adjusted_as_holm_does():
    assert holm([]) == []
    assert holm([0.03]) == [0.03]
    # 4 * 0.01, 3 * 0.02, 2 * 0.03 = 0.06 and 0.9, by hand.
    assert holm([0.9, 0.01, 0.03, 0.02]) == pytest.approx([0.9, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
