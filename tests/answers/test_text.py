"""Bars of characters in a terminal."""

from types import SimpleNamespace

import pytest

from quantshift.answers.shares import Share
from quantshift.answers.text import BAR, range_bar, share_table


@pytest.mark.parametrize(
    ("low", "high", "first", "n_marked"),
    [
        (0.0, 1.0, 0, BAR),
        (0.5, 0.5, 12, 1),
        (0.0, 0.0, 0, 1),
        (1.0, 1.0, 23, 1),
        (0.25, 0.75, 6, 12),
    ],
)
def test_a_range_is_at_least_one_mark_within_the_bar(low, high, first, n_marked):
    bar = range_bar(low, high)
    assert len(bar) == BAR == 24
    assert (bar.index("▒"), bar.count("▒")) == (first, n_marked)
    assert bar.strip("·") == "▒" * n_marked


def test_columns_of_shares_are_as_wide_as_their_widest_cell():
    answer = SimpleNamespace(level=0.95, names={"a": "a", "longer": "longer"})
    shares = [Share("a", 0.75, 0.0, 1.0), Share("longer", 0.25, 0.0, 0.5)]
    head, *lines = share_table(answer, shares)
    assert head == "           share   95% interval"
    assert [line[:32].rstrip() for line in lines] == [
        "  a        75.0%  0.0 to 100.0%",
        "  longer   25.0%   0.0 to 50.0%",
    ]
    wide = [Share("a", 1.0, 0.1234, 1.0), Share("b", 0.5, 0.1, 0.2)]
    head, first, _ = share_table(SimpleNamespace(level=0.95, names={"a": "a", "b": "b"}), wide)
    assert head.endswith("  95% interval")
    assert first.startswith("  a  100.0%  12.3 to 100.0%  ")
