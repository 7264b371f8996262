"""Several targets as rows of numbers and marks, in a terminal and on a page."""

from dataclasses import replace

import pytest

from quantshift.answers.targets.page import bar_of
from quantshift.answers.targets.result import TargetShare
from quantshift.answers.targets.text import (
    MOST_BATCHES,
    fact_lines,
    limits_heading,
    render_text,
    target_rows,
    targets_in_a_line,
)
from tests.claims.made import EVIDENT, RANGED
from tests.quantifying.targets.made import made


def share(estimate: float | None, reference: float | None, **changed) -> TargetShare:
    fields = {"low_for_all": 0.1, "high_for_all": 0.6, "reference": reference, "grounds": EVIDENT}
    return TargetShare("a", estimate, 0.125, 0.5, **fields | changed)


def test_a_row_has_the_numbers_of_its_target_and_the_marks_of_its_batch():
    result = made()
    head, *rows = target_rows(result, result.batches[1])
    assert head[:4] == ["label", "training", "share", "difference"]
    assert [[cell for cell in row if cell] for row in rows] == [
        ["spam", "30.0%", "60.0%", "+30.0", "50.0 to 70.0%", "48.0 to 72.0%", "shift"],
        ["abuse", "20.0%", "25.0%", "+5.0", "20.0 to 30.0%", "18.0 to 32.0%", "changed, range"],
        ["hate", "10.0%", "?", "0.0 to 100.0%", "0.0 to 100.0%", "unknown"],
    ]
    seen = target_rows(result, result.batches[0])[3]
    assert seen[1:4] == ["10.0%", "11.0%", "+1.0"]
    assert seen[-1] == ""


def test_a_difference_has_its_sign_and_needs_both_shares():
    assert share(0.25, 0.375).difference == -0.125
    assert share(None, 0.375).difference is None
    assert share(0.25, None).difference is None


def test_a_bar_has_the_limits_the_estimate_and_the_reference():
    bar = bar_of(share(0.25, 0.5))
    assert bar == {"is_range": False, "bars": [(12.5, 37.5)], "middle": 25.0, "grey": 50.0}
    assert bar_of(share(None, None, grounds=RANGED)) == {
        "is_range": True,
        "bars": [(12.5, 37.5)],
        "middle": None,
        "grey": None,
    }


def test_the_heading_of_limits_names_the_kinds_that_there_are():
    result = made(n_batches=1)
    assert limits_heading(result) == "95% interval or range"
    (batch,) = result.batches
    ranges = replace(batch, shares=tuple(replace(one, grounds=RANGED) for one in batch.shares))
    assert limits_heading(replace(result, batches=(ranges,))) == "range"
    assert limits_heading(replace(result, batches=(replace(batch, shares=batch.shares[:1]),))) == (
        "95% interval"
    )


def test_a_line_is_about_the_last_batch():
    line = targets_in_a_line(made())
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


def test_what_is_said_of_some_targets_has_their_names_and_of_all_none():
    lines = list(fact_lines(made()))
    assert lines[0].split(maxsplit=1) == [
        "Shift",
        "spam in w1, spam in w2, abuse in w1, abuse in w2, hate in w1: V.",
    ]
    assert lines[1].strip() == "hate in w2: V w2"
    assert sum(line.startswith("Method") for line in lines) == 1
    assert any(line.startswith("Method   SLD, for each label on its own: R") for line in lines)
    assert list(fact_lines(made(), details=False)) == []


def test_the_headline_names_the_target_that_is_furthest_from_its_reference():
    text = render_text(made())
    assert "spam is furthest from its share in training (30.0%): 60.0% estimated" in text
    assert "1 label cannot be estimated" in text


def test_a_target_that_cannot_be_estimated_is_found_in_any_batch():
    result = made()
    assert not result.can_be_estimated
    assert result.batches[0].can_be_estimated
    assert not result.batches[1].can_be_estimated
    assert result.headline == "spam"


def test_records_are_those_of_each_target_with_limits_for_all():
    result = made()
    rows = list(result.records())
    assert [(row["batch"], row["class"]) for row in rows] == [
        (batch, target) for batch in ("w1", "w2") for target in ("spam", "abuse", "hate")
    ]
    own = next(row for row in result.answers["abuse"].records() if row["class"] == "abuse")
    assert own.items() <= rows[1].items()
    assert (rows[1]["low_for_all"], rows[1]["high_for_all"]) == pytest.approx((0.18, 0.32))
    assert rows[1]["difference"] == pytest.approx(0.05)
    assert rows[5]["difference"] is None
