"""Warnings that are said of many batches or columns: one line each."""

import dataclasses

import pytest

from quantshift.answers.repeated_warnings import merged
from quantshift.quantifying.output.page import render_page
from tests.quantifying.made import BATCH, FOUND


def test_what_is_said_of_many_batches_is_one_line() -> None:
    """A page had a line for each of 41 batches before its first chart."""
    small = [
        (f"b{i}", f"only {i} item{'s' * (i != 1)}: the interval is wide") for i in range(1, 30)
    ]
    assert merged(small) == [
        "in 29 batches (b1, b2, b3, b4, b5, b6 and 23 more): only 1 to 29 items: the interval is "
        "wide"
    ]


def test_numbers_in_names_are_not_merged() -> None:
    first, second = "the id 'x 1' is there 5 times", "the id 'x 2' is there 7 times"
    assert merged([("a", first), ("b", second)]) == [f"a: {first}", f"b: {second}"]
    assert merged([("a", "v2 of 1,200 rows"), ("b", "v3 of 1,200 rows")]) == [
        "a: v2 of 1,200 rows",
        "b: v3 of 1,200 rows",
    ]


def test_columns_of_which_the_same_is_said_share_a_line() -> None:
    warnings = [("", f"column 'c{i}': only missing values") for i in range(8)]
    assert merged([*warnings, ("", "3 rows"), ("", "4 rows")]) == [
        "8 columns 'c0', 'c1', 'c2', 'c3', 'c4', 'c5' and 2 more: only missing values",
        "3 rows",
        "4 rows",
    ]


def test_what_is_said_of_many_columns_of_many_batches_is_a_line_for_each_kind() -> None:
    """A table of 49 places, with columns missing in some of them, had fifty warnings."""
    warnings = [
        ("a", "column 'sun': 30% of the rows are missing where 6% was expected"),
        ("a", "the same holds to a lesser degree for: 'wind', 'cloud'"),
        ("b", "column 'wind': 45% of the rows are missing where 2% was expected"),
        ("b", "column 'rain': 3% of the rows lie outside 0 to 50, the range of training"),
        ("c", "column 'temp': 9% of the rows lie outside -5 to 41.5, the range of training"),
    ]
    assert merged(warnings) == [
        "in 2 batches (a, b): some of 3 columns 'wind', 'sun', 'cloud': 30 to 45% of the rows are "
        "missing where 2 to 6% was expected",
        "in 2 batches (b, c): some of 2 columns 'rain', 'temp': 3 to 9% of the rows lie outside "
        "the range of training",
    ]


@pytest.mark.slow
def test_terminal_and_page_merge_warnings() -> None:
    batches = tuple(
        dataclasses.replace(BATCH, name=f"b{i}", warnings=(f"only {i} items",)) for i in range(41)
    )
    found = dataclasses.replace(FOUND, batches=batches, in_sequence=False)
    line = "in all 41 batches: only 0 to 40 items"
    assert f"Warning  {line}" in found.to_text().splitlines()
    assert render_page(found).count("items</li>") == 1
    assert f"<li>{line}</li>" in render_page(found)
