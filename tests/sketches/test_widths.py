"""How narrow cells are is a matter of the rows of a batch, and of no order."""

import numpy as np
import polars as pl
import pytest

from quantshift.sketches import sketch
from quantshift.sketches.cells import rounded
from quantshift.sketches.cells import score as cells
from quantshift.sketches.cells.score import MIDDLE, NARROW, WIDE
from quantshift.sketches.counting.counter import Counter, ScoreColumns
from quantshift.sketches.widths import most_narrow
from tests.sketches.made import batches


@pytest.fixture
def few(monkeypatch):
    """Limits that a few thousand rows exceed."""
    monkeypatch.setattr(cells, "BY_SIZE", ((1500, NARROW), (3500, MIDDLE)))
    monkeypatch.setattr(cells, "MOST_NARROW", 9_000)
    monkeypatch.setattr(rounded, "MOST_ROWS", 1500)
    monkeypatch.setattr(rounded, "MOST_ROWS_IN_ALL", 9_000)


def of_two(sizes: dict[str, int]) -> pl.DataFrame:
    return pl.concat(batches({name: 0.3}, n, seed=n) for name, n in sizes.items())


def of_three(sizes: dict[str, int]) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.concat(
        pl.DataFrame(rng.dirichlet([0.4] * 3, n), schema=list("abc")).with_columns(day=pl.lit(name))
        for name, n in sizes.items()
    )


CASES = {
    "two": (of_two, {"score": "p", "batch": "day"}),
    "three": (of_three, {"posteriors": list("abc"), "batch": "day"}),
}


def cells_by_batch(made) -> dict[str, tuple[int, int]]:
    ranges = (
        made.usable()
        .group_by("batch")
        .agg(pl.col("cell").min().alias("least"), pl.col("cell").max())
    )
    return {name: (least, most) for name, least, most in ranges.iter_rows()}


def test_small_batches_have_narrow_cells_and_large_ones_wide_cells(few):
    found = cells_by_batch(sketch(of_two({"s": 1000, "m": 3000, "l": 4000}), **CASES["two"][1]))
    for name, kind in (("s", NARROW), ("m", MIDDLE), ("l", WIDE)):
        least, most = found[name]
        assert kind.first <= least <= most < kind.end


def test_of_three_classes_small_batches_keep_their_rows(few):
    made = sketch(of_three({"s": 1400, "l": 1600}), **CASES["three"][1])
    found = cells_by_batch(made)
    assert found["s"][1] < 3 <= found["l"][0]
    assert made.n_rows == 3000
    # Of each class and the expected one.
    assert made.marginal()["n"].sum() == 4 * 1600


@pytest.mark.parametrize("case", CASES)
def test_many_rows_in_all_make_all_cells_wide(case, few):
    make, options = CASES[case]
    made = sketch(make({"a": 1000, "b": 8500}), **options)
    end = {"two": WIDE.end, "three": made.about.end_of_rows}[case]
    least = {"two": 0, "three": 3}[case]
    assert all(least <= low <= high < end for low, high in cells_by_batch(made).values())


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "sizes", [{"a": 1300, "b": 1100}, {"a": 3000, "b": 2000}, {"a": 4000}, {"a": 9500, "b": 30}]
)
def test_parts_in_any_order_settle_in_the_same_cells(case, sizes, few):
    make, options = CASES[case]
    frame = make(sizes).sample(fraction=1.0, shuffle=True, seed=2)
    expected = sketch(frame, **options).to_bytes()
    first, *rest = [sketch(part, **options) for part in frame.iter_slices(900)]
    assert first.merge(*rest).to_bytes() == expected
    one_by_one = first
    for other in reversed(rest):
        one_by_one = other.merge(one_by_one)
    assert one_by_one.to_bytes() == expected
    counter = Counter(
        ScoreColumns.of(options.get("score"), options.get("posteriors", ()), "day", (), None)
    )
    for part in frame.iter_slices(700):
        counter.add(part)
    assert counter.sketch().to_bytes() == expected


def test_the_rows_in_all_from_which_all_cells_are_wide_differ_with_the_classes(monkeypatch):
    monkeypatch.setattr(cells, "MOST_NARROW", 9_000)
    monkeypatch.setattr(rounded, "MOST_ROWS_IN_ALL", 8_000)
    two = sketch(of_two({"a": 40}), **CASES["two"][1])
    three = sketch(of_three({"a": 40}), **CASES["three"][1])
    assert (most_narrow(two.about), most_narrow(three.about)) == (9_000, 8_000)


def test_labelled_rows_stay_in_narrow_cells(few, monkeypatch):
    monkeypatch.setattr("quantshift.sketches.about.MOST_LABELLED", 100)
    frame = of_two({"a": 9500}).with_columns(y=pl.int_range(pl.len()) % 2)
    ((least, _),) = cells_by_batch(sketch(frame, score="p", label="y")).values()
    assert least >= NARROW.first
    three = of_three({"a": 9500}).with_columns(y=pl.int_range(pl.len()) % 3)
    made = sketch(three, posteriors=list("abc"), label="y")
    assert cells_by_batch(made)[None][1] < 3
