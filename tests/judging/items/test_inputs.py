"""What is read of a table, before and after names are codes: some of the rows."""

from dataclasses import fields

import numpy as np
import polars as pl
import pytest

from quantshift.answers.rows import Rows
from quantshift.errors import DataError
from quantshift.judging.findings import JudgeFindings
from quantshift.judging.reading.arrays import parse_inputs
from quantshift.judging.reading.inputs import ReadItems, _Cells, _numbers, read_judged
from quantshift.tables.reading import open_table

OPTIONAL = ("verdicts", "score", "ids", "groups", "inclusion", "clusters", "weights")
ROWS = np.array([2, 0])


def read(**given) -> ReadItems:
    nothing = {field.name: None for field in fields(ReadItems)}
    return ReadItems(
        **nothing | {"numbers": np.arange(1, 4), "labels": np.array([0, 1, -1])} | given
    )


def test_items_without_more_have_none_of_it():
    taken = read().take(ROWS)
    assert taken.numbers.tolist() == [3, 1]
    assert taken.labels.tolist() == [-1, 0]
    assert all(getattr(taken, name) is None for name in (*OPTIONAL, "other_labels"))


def test_items_are_taken_with_all_they_have():
    arrays = {
        "verdicts": np.array([[0, 1], [1, 1], [2, 0]]),
        "score": np.array([0.1, 0.2, 0.3]),
        "inclusion": np.array([0.4, 0.5, 0.6]),
        "clusters": np.array([7, 8, 9]),
        "weights": np.array([1.0, 2.0, 3.0]),
        "other_labels": np.array([1, 1, 0]),
    }
    taken = read(**arrays, ids=("a", "b", "c"), groups=("x", "y", "x")).take(ROWS)
    for name, array in arrays.items():
        assert getattr(taken, name).tolist() == array[ROWS].tolist()
    assert taken.ids == ("c", "a")
    assert taken.groups == ("x", "x")


@pytest.mark.parametrize("with_votes", [False, True])
def test_rows_are_taken_with_their_votes_and_the_columns_beside(with_votes):
    votes = ({"yes": 1.0}, {"no": 2.0}, {"maybe": 3.0}) if with_votes else None
    cells = _Cells(
        table=open_table(pl.DataFrame({"v": ["a", "b", "c"]})),
        numbers=np.arange(1, 4),
        verdicts=(["a", "b", "c"], ["d", "e", "f"]),
        score=np.array([0.1, 0.2, 0.3]),
        labels=["yes", None, "no"],
        ids=None,
        groups=["x", "y", "z"],
        rows=Rows("t", 3, 3, {}),
        findings=(JudgeFindings.ONE_VERDICT.found(),),
        beside={"more": pl.Series(["p", "q", "r"])},
        votes=votes,
    )
    taken = cells.take(ROWS)
    assert taken.numbers.tolist() == [3, 1]
    assert taken.verdicts == (["c", "a"], ["f", "d"])
    assert taken.score.tolist() == [0.3, 0.1]
    assert (taken.labels, taken.ids, taken.groups) == (["no", "yes"], None, ["z", "x"])
    assert list(taken.beside["more"]) == ["r", "p"]
    assert taken.votes == (({"maybe": 3.0}, {"yes": 1.0}) if with_votes else None)
    assert taken.findings == cells.findings


def test_the_first_score_that_is_no_number_is_told_with_its_row():
    assert _numbers(pl.Series(["0.5", "1", None]), "t").tolist()[:2] == [0.5, 1.0]
    for column, row in ((["0.5", "low", "high"], 2), (["0.5", "1", "high"], 3)):
        with pytest.raises(DataError, match=f"t: row {row}: the score"):
            _numbers(pl.Series(column), "t")


def test_items_have_the_numbers_of_their_rows():
    """From 1, without those that have no verdict."""
    table = pl.DataFrame({"judge": ["a", None, "b"], "human": ["a", "a", "b"]})
    source, options = parse_inputs(table, "judge", "human", None)
    items = read_judged(
        source, None, options.saying(map={}, classes=(), missing=None, lenient=True)
    ).items
    assert items.numbers.tolist() == [1, 3]
    assert items.labels.tolist() == [0, 1]
