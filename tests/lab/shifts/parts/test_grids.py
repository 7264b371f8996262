"""The numbers of a grid."""

import pytest

from quantshift.lab.shifts.parts.grids import half_up, rounded


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [(0.35 - 0.2, 1, 0.2), (0.45 - 0.3, 1, 0.2), (-0.15, 1, -0.2), (-0.02, 1, 0.0), (0.049, 1, 0)],
)
def test_degrees_round_halves_away_from_zero(value, decimals, expected):
    result = rounded(value, decimals)
    assert result == expected
    assert str(result) == str(float(expected))


def test_halves_round_up():
    assert [half_up(x) for x in (0.5, 1.5, 2.4999999999999, 250 / 3)] == [1, 2, 3, 83]
