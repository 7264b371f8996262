"""The sheet of a plan: what its verdicts say before there are labels."""

import polars as pl
import pytest

from quantshift.judging.plans.sheet import plan_judge


def test_a_verdict_that_is_no_class_gets_most_labels():
    """Nobody knows what it says; the judge is expected to be right about the others."""
    judge = ["a"] * 300 + ["b"] * 300 + ["tie"] * 300
    table = pl.DataFrame({"judge": judge, "human": ["a"] * 2 + [None] * 898})
    sheet = plan_judge(
        table, verdict="judge", label="human", classes=("a", "b"), n_labels=90, how="by-verdict"
    )
    assert [labels for _, labels in sheet.strata] == [17, 19, 54]


@pytest.mark.parametrize("verdicts", [["j1", "j2", "j3"], ["j3", "j1", "j2"]])
def test_items_on_which_most_judges_agree_with_people_need_fewer_labels(verdicts):
    """Two of three judges are right; which column they are in does not matter."""
    rows = [("no", "no", "yes", "no"), ("yes", "yes", "no", "yes"), ("no", "no", "no", "no")]
    table = pl.DataFrame(rows * 100, schema=["j1", "j2", "j3", "human"], orient="row")
    known = table.with_columns(human=pl.when(pl.int_range(pl.len()) < 60).then("human"))
    found = plan_judge(known, verdict=verdicts, label="human", n_labels=30).plan
    assert found.half_width == pytest.approx(0.01086, rel=0.01)


def test_items_are_numbered_as_the_rows_of_the_table():
    """From 1, without those that have no verdict."""
    table = pl.DataFrame({"judge": ["a", None, "b", "a", "b"] * 6})
    sheet = plan_judge(table, verdict="judge", n_labels=24, lenient=True)
    assert sorted(sheet.rows) == [row for row in range(1, 31) if row % 5 != 2]
    assert set(sheet.rows[:2]) <= set(range(1, 31))
    assert all(sheet.labels.get(row) is None for row in sheet.rows)
