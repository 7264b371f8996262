"""A column of numbers that cannot be read is left out with a reason that says so."""

import numpy as np
import polars as pl
import pytest

from quantshift.errors import DataError
from quantshift.tables.columns.kinds import check_kinds, choose
from quantshift.tables.columns.odd_numbers import why_not_numbers

N = 300
NUMBERS = np.random.default_rng(0).normal(0, 50_000, N).round(2).tolist()
ARABIC = str.maketrans("0123456789.", "٠١٢٣٤٥٦٧٨٩٫")


def grouped(x):
    return f"{x:,.2f}"


WRITTEN = {
    "thousands": (grouped, r"numbers with thousands separators \(1,234\); write 1,234 as 1234"),
    "swiss": (lambda x: grouped(x).replace(",", "'"), "numbers with thousands separators"),
    "spaces": (lambda x: grouped(x).replace(",", "\u202f"), "numbers with thousands separators"),
    "percent": (lambda x: f"{x}%", r"percentages \(12.5%\); write 12.5% as 12.5$"),
    "dollars": (lambda x: f"{'-' * (x < 0)}${grouped(abs(x))}", "amounts with the sign of a curr"),
    "euros": (lambda x: f"{x} €", r"amounts with the sign of a currency \(\$12.50\); write"),
    "minus": (lambda x: f"{x}".replace("-", "\u2212"), "numbers with a typographic minus"),
    "brackets": (lambda x: f"({-x})" if x < 0 else f"{x}", "negative numbers in brackets"),
    "accounts": (
        lambda x: f"({grouped(-x)})" if x < 0 else grouped(x),
        r"brackets.*thousands separators \(1,234\); write \(12\) as -12 and 1,234 as 1234",
    ),
    "underscores": (lambda x: f"{int(x):_}", "numbers with underscores"),
    "fortran": (lambda x: f"{x:.6e}".replace("e", "D"), "numbers with exponents as in Fortran"),
    "arabic": (lambda x: f"{x}".translate(ARABIC), "numbers in other digits than 0 to 9"),
}


@pytest.mark.parametrize("form", WRITTEN)
def test_the_reason_says_what_the_cells_look_like(form):
    """It used to be "300 different values in 300 rows, like names or ids", or they were texts."""
    write, reason = WRITTEN[form]
    features, (left_out,) = choose(pl.DataFrame({"x": [write(x) for x in NUMBERS]}))
    assert not features
    assert left_out.reason.startswith("all cells look like ")
    assert why_not_numbers(pl.Series([write(x) for x in NUMBERS])) == left_out.reason
    assert pl.Series([left_out.reason]).str.contains(reason)[0]


@pytest.mark.parametrize("form", ["percent", "underscores", "euros"])
def test_the_reason_is_said_of_numbers_that_repeat(form):
    """They were categories all of whose levels were rare and pooled: nothing was left of them."""
    write, reason = WRITTEN[form]
    few = [write(round(x, -3)) for x in NUMBERS]
    assert len(set(few)) < 0.7 * N
    features, (left_out,) = choose(pl.DataFrame({"x": few}))
    assert not features
    assert pl.Series([left_out.reason]).str.contains(reason)[0]
    # With a few levels that occur often they are a category like any other.
    (feature,), _ = choose(pl.DataFrame({"x": [write(2000.0 * (i % 4 + 1)) for i in range(N)]}))
    assert (feature.kind, feature.levels) == ("category", 4)


@pytest.mark.parametrize(
    "cells",
    [
        [f"name {i}" for i in range(N)],
        [f"ABC{i}" for i in range(N)],
        [f"DE{i:020d}" for i in range(N)],
        [f"10.0.{i % 256}.{i // 256}" for i in range(N)],
        [f"2026-{i:05d}" for i in range(N)],
    ],
)
def test_names_and_ids_are_still_called_so(cells):
    _, (left_out,) = choose(pl.DataFrame({"x": cells}))
    assert left_out.reason == f"{N} different values in {N} rows, like names or ids"


def test_ids_of_twenty_digits_are_ids():
    """They used to be called constant, because they are equal as floats, or were used as such."""
    order = np.random.default_rng(0).permutation(N).tolist()
    for step in (7, 10_000):
        cells = [str(12_345_678_901_234_500_000 + step * i) for i in order]
        _, (left_out,) = choose(pl.DataFrame({"x": cells}))
        assert left_out.reason == f"{N} different values in {N} rows, like names or ids"


def test_large_numbers_are_still_numbers():
    features, _ = choose(pl.DataFrame({"x": [f"{x}e30" for x in NUMBERS]}))
    assert features[0].kind == "number"


def test_a_sample_that_writes_its_numbers_in_another_way_is_told_how():
    features, _ = choose(pl.DataFrame({"x": NUMBERS}))
    line = r"t.csv: column 'x' holds percentages such as '12%', but plain numbers in training; wri"
    with pytest.raises(DataError, match=line):
        check_kinds(pl.DataFrame({"x": ["12%", "13%"]}), features, "t.csv")
