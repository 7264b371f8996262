"""Findings about many batches, targets or columns: one line each."""

import dataclasses

import pytest

from quantshift.answers.merging import merged, of_targets, unless_about_all
from quantshift.claims.findings import Finding
from quantshift.quantifying.findings import BatchFindings
from quantshift.quantifying.output.page import render_page
from quantshift.tables.columns.findings import TableFindings
from tests.quantifying.made import BATCH, FOUND


def gaps(batch: str | None, column: str, share: float, expected: float) -> Finding:
    return BatchFindings.MORE_GAPS.found(batch=batch, column=column, share=share, expected=expected)


def test_what_is_said_of_many_batches_is_one_line() -> None:
    """A page had a line for each of 41 batches before its first chart."""
    small = [BatchFindings.FEW_ITEMS.found(batch=f"b{i}", n=i) for i in range(1, 30)]
    assert merged(small, 40) == [
        "in 29 of 40 batches (b1, b2, b3, b4, b5, b6 and 23 more): only 1 to 29 items: the "
        "interval is wide"
    ]
    assert merged(small, 29)[0].startswith("in all 29 batches: only 1 to 29 items")
    assert merged(small[:1], 40) == ["b1: only 1 item: the interval is wide"]


def test_the_only_batch_is_not_named() -> None:
    assert merged([BatchFindings.FEW_ITEMS.found(batch="b", n=2)], 1) == [
        "only 2 items: the interval is wide"
    ]


def test_what_differs_in_words_is_not_merged() -> None:
    hidden = [TableFindings.HIDDEN_SHEET.found(batch=b, sheet=f"x {b}") for b in "ab"]
    assert merged(hidden, 2) == [f"{b}: the hidden sheet 'x {b}' was not read" for b in "ab"]


def test_what_is_not_about_a_batch_is_said_as_it_is() -> None:
    few = [BatchFindings.FEW_ITEMS.found(n=n) for n in (3, 4)]
    assert merged(few, 2) == [f"only {n} items: the interval is wide" for n in (3, 4)]
    of_tables = [BatchFindings.FEW_ITEMS.found(table=table, n=3) for table in "ab"]
    assert merged(of_tables, 2) == [f"{t}: only 3 items: the interval is wide" for t in "ab"]


def test_more_than_three_columns_of_which_the_same_is_said_share_a_line() -> None:
    found = [gaps(None, f"c{i}", 0.3 + i / 100, 0.06) for i in range(8)]
    assert merged(found, 1) == [
        "8 columns 'c0', 'c1', 'c2', 'c3', 'c4', 'c5' and 2 more: 30 to 37% of the rows are "
        "missing where 6% was expected"
    ]
    assert merged(found[:3], 1) == [
        f"column 'c{i}': 3{i}% of the rows are missing where 6% was expected" for i in range(3)
    ]


def test_what_is_said_of_many_columns_of_many_batches_is_a_line_for_each_kind() -> None:
    """A table of 49 places, with columns missing in some of them, had fifty warnings."""
    ranges = BatchFindings.OUTSIDE_THE_RANGE
    found = [
        gaps("a", "sun", 0.3, 0.06),
        gaps("a", "wind", 0.3, 0.06),
        gaps("a", "cloud", 0.3, 0.06),
        gaps("b", "wind", 0.45, 0.02),
        ranges.found(batch="b", column="rain", share=0.03).with_numbers(low=0.0, high=50.0),
        ranges.found(batch="c", column="temp", share=0.09).with_numbers(low=-5.0, high=41.5),
    ]
    assert merged(found, 9) == [
        "in 2 of 9 batches (a, b): some of 3 columns 'wind', 'sun', 'cloud': 30 to 45% of the rows "
        "are missing where 2 to 6% was expected",
        "in 2 of 9 batches (b, c): some of 2 columns 'rain', 'temp': 3 to 9% of the rows lie "
        "outside the range of training",
    ]


def test_the_ends_of_ranges_are_not_strung_together() -> None:
    """Two batches were said to be possible "from 4.8 to 36.2 to 58.2 to 100.0%"."""
    unknown = BatchFindings.NOT_WITHOUT_LABELS
    found = [
        unknown.found(batch="a", name="yes", low=0.048, high=0.582),
        unknown.found(batch="b", name="yes", low=0.362, high=1.0),
    ]
    (line,) = merged(found, 3)
    assert line.endswith("their ranges lie between 4.8% and 100.0%")


def test_targets_are_named_unless_it_is_all_of_them() -> None:
    few, none = BatchFindings.FEW_ITEMS.found(n=3), BatchFindings.NO_ITEMS.found()
    found = of_targets({"spam": [few, none], "hate": [few]})
    assert found == [few, none.of_target("spam")]
    assert unless_about_all(found, 2) == [few.sentence, f"spam: {none.sentence}"]
    each = [few.of_target("spam"), few.of_target("hate").with_numbers(n=5)]
    assert unless_about_all(each, 2) == ["only 3 to 5 items: the interval is wide"]
    of_batches = [few.in_batch(name).of_target("spam") for name in "ab"]
    assert unless_about_all(of_batches, 2) == [f"spam: {b}: {few.sentence}" for b in "ab"]


@pytest.mark.slow
def test_terminal_and_page_merge_warnings() -> None:
    batches = tuple(
        dataclasses.replace(
            BATCH,
            name=f"b{i}",
            findings=(BatchFindings.FEW_ITEMS.found(batch=f"b{i}", n=i),),
        )
        for i in range(41)
    )
    found = dataclasses.replace(FOUND, batches=batches, in_sequence=False)
    line = "in all 41 batches: only 0 to 40 items: the interval is wide"
    assert f"Warning  {line}" in found.to_text(details=True).splitlines()
    assert render_page(found).count("the interval is wide</li>") == 1
    assert f"<li>{line}</li>" in render_page(found)
