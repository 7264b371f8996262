"""When a column has lost what it said, by closed forms."""

from datetime import date

import numpy as np
import polars as pl
import pytest

from quantshift.measuring.columns.dead_columns import (
    BY_CHANCE,
    Death,
    dead_column,
    drawn_like_training,
)
from quantshift.measuring.columns.sample_profile import SampleCells
from quantshift.measuring.columns.training_profile import training_profile
from quantshift.tables.columns.kinds import choose

N = 1000
CODES = np.repeat([0, 1], N // 2)
DAYS = pl.date_range(pl.date(2025, 1, 1), pl.date(2025, 12, 31), "1d", eager=True)
RNG = np.random.default_rng(0)
TRAINING = pl.DataFrame(
    {
        "income": RNG.normal(size=N),
        # In class 1 four fifths have a flag of 1, in class 0 none.
        "flag": np.where(np.arange(N) >= 600, 1, 0),
        "town": RNG.choice(["Ulm", "Bonn"], N),
        "rarely": [None if i % 10 == 0 else float(i) / 7 for i in range(N)],
        "day": DAYS.sample(N, with_replacement=True, seed=0),
        "review": [f"good thing number {i} of the shop" for i in range(N)],
    }
)
COLUMNS = choose(TRAINING, codes=["flag"], named=["income", "review"])[0]


def dead(column, cells, n_distinct):
    of_column = [each for each in COLUMNS if each.name == column]
    profile = training_profile(TRAINING, CODES, of_column)
    frame = pl.DataFrame({column: pl.Series(cells, dtype=TRAINING[column].dtype)})
    cells = SampleCells.of(profile, frame)
    return dead_column(profile.columns[0], cells.columns[column], profile.items, n_distinct)


@pytest.mark.parametrize(
    ("column", "cells", "death"),
    [
        ("income", [0.5] * 20, Death.CONSTANT),
        ("income", [None] * 20, Death.EMPTY),
        ("income", [0.5] * 19 + [0.6], None),
        # Whether the cell is missing may say something.
        ("income", [0.5] * 19 + [None], None),
        ("town", ["Ulm"] * 20, Death.CONSTANT),
        ("town", ["Rome"] * 20, Death.CONSTANT),
        ("town", [None] * 20, Death.EMPTY),
        ("review", [""] * 20, Death.EMPTY),
        ("review", ["the same again and again"] * 20, None),
        ("day", [date(2026, 1, 1), date(2026, 5, 1)], Death.LATER),
        ("day", [date(2025, 12, 1), date(2026, 5, 1)], None),
        ("day", [], None),
    ],
)
def test_what_has_become_of_a_column(column, cells, death):
    cells = (
        pl.select(pl.concat_list(cells)).item().to_list() if column == "day" and cells else cells
    )
    found = dead(column, cells, 20)
    assert (found and found.death) == death


def test_a_column_is_dead_where_its_likeliest_class_makes_it_improbable():
    """In class 1 80% have the flag, so n rows of it have it with probability .8 ** n."""
    n = int(np.ceil(np.log(BY_CHANCE) / np.log((400 + 1) / (500 + 1))))
    assert dead("flag", [1] * n, n - 1) is None
    found = dead("flag", [1] * n, n)
    assert (found.death, found.share) == (Death.CONSTANT, 0.4)
    # All of class 0 lack it: no number of rows is a surprise.
    assert dead("flag", [0] * 500, 500) is None


def test_gaps_that_are_usual_are_no_surprise_in_few_rows():
    assert dead("rarely", [None] * 3, 3) is None
    assert dead("rarely", [None] * 30, 30).share == pytest.approx(0.1)


def test_cells_are_drawn_as_in_training():
    profile = training_profile(TRAINING, CODES, COLUMNS)
    for each in profile.columns:
        drawn = drawn_like_training(each, 20_000, np.random.default_rng(1))
        name = each.column.name
        if name == "review":
            assert drawn is None
            continue
        # Six standard errors of a share.
        near = pytest.approx
        expected = TRAINING[name].null_count() / N
        assert drawn.null_count() / len(drawn) == near(expected, abs=6 * 0.5 / 20_000**0.5)
        if name == "town":
            share = (drawn == "Ulm").mean()
            assert share == near((TRAINING[name] == "Ulm").mean(), abs=6 * 0.5 / 20_000**0.5)
        elif name in ("income", "day"):
            below = (drawn <= TRAINING[name].median()).mean()
            assert below == near(0.5, abs=6 * 0.5 / 20_000**0.5 + 0.01)
