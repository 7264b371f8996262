"""Several labels as rows of numbers and marks, in a terminal and on a page."""

from dataclasses import replace

import pytest

from quantshift.quantifying.labels.label_text import (
    MOST_BATCHES,
    change_text,
    label_rows,
    labels_in_a_line,
    limits_heading,
    marks_in,
    marks_of,
    method_facts,
    render_text,
)
from tests.claims.made import RANGED
from tests.quantifying.labels.made_labels import label_answer, made


def test_a_row_has_the_numbers_of_its_label_and_the_marks_of_its_batch():
    result = made()
    _, *rows = label_rows(result, result.batches[1])
    assert [[cell for cell in row if cell] for row in rows] == [
        ["spam", "30.0%", "60.0%", "+30.0", "50.0 to 70.0%", "48.0 to 72.0%", "shift"],
        ["abuse", "20.0%", "25.0%", "+5.0", "20.0 to 30.0%", "18.0 to 32.0%", "changed, range"],
        ["hate", "10.0%", "?", "0.0 to 100.0%", "0.0 to 100.0%", "unknown"],
    ]
    seen = label_rows(result, result.batches[0])[3]
    assert seen[1:4] == ["10.0%", "11.0%", "+1.0"]
    assert seen[-1] == ""


def test_marks_are_those_of_the_batch_and_of_the_label():
    result = made()
    first, last = result.batches
    assert marks_of(result, first, first.labels[2]) == []
    assert marks_of(result, last, last.labels[2]) == ["unknown"]
    assert list(marks_in(result, last)) == ["shift", "changed", "range", "unknown"]


def test_a_change_has_its_sign_in_points():
    assert change_text(label_answer("a", 0.25, 0.2, 0.3, 0.375)) == "-12.5"
    assert change_text(label_answer("a", None, 0.0, 1.0, 0.375)) == ""


def test_the_heading_of_limits_names_the_kinds_that_there_are():
    result = made(n_batches=1)
    assert limits_heading(result) == "95% interval or range"
    (batch,) = result.batches
    ranges = replace(batch, labels=tuple(replace(one, grounds=RANGED) for one in batch.labels))
    assert limits_heading(replace(result, batches=(ranges,))) == "range"
    assert limits_heading(replace(result, batches=(replace(batch, labels=batch.labels[:1]),))) == (
        "95% interval"
    )


def test_a_line_is_about_the_last_batch():
    line = labels_in_a_line(made())
    assert line.startswith("w2 ")
    assert ", 200 items: spam 60.0% (+30.0, 50.0 to 70.0%, shift)" in line
    assert line.endswith("hate ? (0.0 to 100.0%, unknown)")


@pytest.mark.parametrize("details", [False, True])
def test_of_many_batches_the_last_ones_are_shown(details):
    result = made(n_batches=MOST_BATCHES + 2)
    lines = render_text(result, details=details).splitlines()
    titles = [line for line in lines if line.startswith("w") and line.endswith(" items)")]
    assert len(titles) == (8 if details else 6)
    assert titles[-1] == "w8 (800 items)"
    assert any("2 more" in line for line in lines) is not details


def test_one_batch_has_no_title():
    assert "w1 (100 items)" not in render_text(made(n_batches=1)).splitlines()


def test_labels_that_were_estimated_together_are_named_with_their_method():
    facts = dict(method_facts(made()))
    assert facts["Method"].startswith("SLD, ")
    assert facts["Together"].startswith("abuse, by Tilted")
    alone = replace(made(), batches=made().batches[:0])
    assert "Together" not in dict(method_facts(alone))


def test_labels_cut_at_their_parent_are_named_with_it():
    parents = [
        line
        for line in render_text(made(), details=True).splitlines()
        if line.startswith("Parents")
    ]
    assert len(parents) == 1
    assert parents[0].endswith(": spam within all")
