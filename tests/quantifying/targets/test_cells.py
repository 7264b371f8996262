"""How several labels are written in a table."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from quantshift import quantify, train
from quantshift.errors import UserError
from quantshift.quantifying.columns import TableItems
from quantshift.quantifying.findings import SampleFindings
from quantshift.quantifying.targets.cells import IndicatorColumns, SeparatedColumn
from quantshift.tables.reading import open_table
from tests.found import numbers_of
from tests.quantifying.targets.made import LABELS, QUICK, labelled, unlabelled, with_tags

TRAIN = labelled(300, seed=1)
SAMPLE = unlabelled(labelled(150, seed=2))
TABLE = open_table(TRAIN, name="the training table")


def _items(frame: pl.DataFrame) -> TableItems:
    """Rows of a table with the cells of labels."""
    nothing = pl.Series(dtype=pl.String)
    rows = np.arange(1, len(frame) + 1)
    return TableItems(rows, pl.DataFrame({"x": np.zeros(len(frame))}), nothing, nothing, kept=frame)


def refusal(train_on: pl.DataFrame, **options: Any) -> str:
    """The message of a call that is refused; always a single line."""
    with pytest.raises(UserError) as error:
        quantify(SAMPLE, train=train_on, **(QUICK | options))
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("yes", "no"),
    [(1, 0), ("yes", "no"), ("True", "false"), (True, False), (" Y ", "n"), (1.0, 0.0)],
)
def test_a_column_for_each_label_may_be_written_in_several_ways(yes: Any, no: Any) -> None:
    frame = pl.DataFrame({"a": [yes, no, yes], "b": [no, no, yes]})
    items = _items(frame)
    read = IndicatorColumns(("a", "b")).read(
        TABLE, IndicatorColumns(("a", "b")).labelled(TABLE, items)
    )
    assert read.table.has.tolist() == [[True, False], [False, False], [True, True]]


def test_rows_that_lack_a_cell_are_left_out_and_counted() -> None:
    cells = IndicatorColumns(("a", "b"))
    found = cells.labelled(
        TABLE, _items(pl.DataFrame({"a": ["1", None, "0"], "b": ["0", "1", "NA"]}))
    )
    assert found.rows.tolist() == [1]
    assert found.left_out == {"no label": 2}


def test_a_cell_of_many_labels_may_be_empty_repeat_a_label_and_differ_in_case() -> None:
    cells = SeparatedColumn(("t",), ";")
    frame = pl.DataFrame(
        {"t": ["a;b", " a ;", None, "A; b;b", "", "NA", "a", "a", "a", "b", "b", "b"]}
    )
    found = cells.labelled(TABLE, _items(frame))
    assert found.left_out == {"no label": 1}
    read = cells.read(TABLE, found)
    assert read.table.names.tolist() == ["a", "b"]
    assert read.table.has.sum(axis=0).tolist() == [6, 5]
    assert read.table.has[2].tolist() == [False, False]
    assert read.table.has[3].tolist() == [True, True]


@pytest.mark.slow
def test_rare_labels_of_one_column_are_left_out_and_named() -> None:
    frame = with_tags(TRAIN)
    tags = frame["tags"].to_list()
    frame = frame.with_columns(pl.Series("tags", [f"{tags[0]}; odd", *tags[1:]]))
    found = quantify(SAMPLE, train=frame, label="tags", separator=";", **QUICK)
    left_out = numbers_of(found.findings, SampleFindings.LABEL_NOT_LEARNT)
    assert left_out == {"label": "odd", "reason": "1 row with it"}
    assert set(found.targets) == set(LABELS)
    assert "the label 'odd' cannot be learnt" in found.to_text(details=True)


def test_a_label_that_never_occurs_or_always_is_refused_by_name() -> None:
    never = TRAIN.with_columns(never=0, always=1)
    message = refusal(never, label=[*LABELS, "never", "always"])
    assert "'never' (no row has it); 'always' (every row has it)" in message


@pytest.mark.slow
def test_a_label_on_every_item_of_one_column_is_left_out() -> None:
    frame = with_tags(TRAIN)
    frame = frame.with_columns(tags=pl.col("tags") + "; all")
    found = quantify(SAMPLE, train=frame, label="tags", separator=";", **QUICK)
    left_out = numbers_of(found.findings, SampleFindings.LABEL_NOT_LEARNT)
    assert left_out == {"label": "all", "reason": "every row has it"}


def test_a_separator_that_is_not_there_is_refused_if_another_one_is() -> None:
    message = refusal(with_tags(TRAIN), label="tags", separator="|")
    assert "never contains the separator '|'" in message
    assert "contain ';'" in message


def test_an_empty_separator_and_one_for_several_columns_are_refused() -> None:
    assert "empty" in refusal(with_tags(TRAIN), label="tags", separator="")
    assert "letters or digits" in refusal(with_tags(TRAIN), label="tags", separator=" and ")
    assert "one column, and 3 are named" in refusal(TRAIN, label=LABELS, separator=";")


def test_cells_that_say_neither_yes_nor_no_are_named_with_their_row() -> None:
    odd = TRAIN.with_columns(spam=pl.Series(["maybe", *["1", "0"] * 149, "0"]))
    assert "row 1, column 'spam': 'maybe'" in refusal(odd, label=LABELS)


def test_a_thousand_labels_are_refused_in_one_line() -> None:
    many = TRAIN.with_columns(pl.Series(f"l{j}", [j % 2] * len(TRAIN)) for j in range(1000))
    assert "1,000 labels" in refusal(many, label=[f"l{j}" for j in range(1000)])
    tags = pl.Series("tags", [";".join(f"l{j}" for j in range(i % 2, 1000, 2)) for i in range(300)])
    assert "1,000 labels" in refusal(TRAIN.with_columns(tags), label="tags", separator=";")


def test_no_label_at_all_unknown_columns_and_names_that_are_given_twice() -> None:
    empty = TRAIN.with_columns(tags=pl.lit(""))
    assert "no row has a label" in refusal(empty, label="tags", separator=";")
    assert "hat" in refusal(TRAIN, label=["spam", "hat"])
    assert "'spam' is named twice" in refusal(TRAIN, label=["spam", "spam"])
    unknown = TRAIN.with_columns(spam=pl.lit(None, dtype=pl.String))
    assert "no row has both labels" in refusal(unknown, label=LABELS)


def test_options_for_one_label_are_refused() -> None:
    for name, value in {
        "model": "model",
        "positive": "1",
        "posteriors": ["x0"],
        "audit": TRAIN,
        "rows": "rows.csv",
    }.items():
        given = {} if name == "model" else {"train": TRAIN}
        with pytest.raises(UserError, match=r"one label|of one|its own answer"):
            quantify(SAMPLE, label=LABELS, **given, **QUICK, **{name: value})
    with pytest.raises(UserError, match="one label at a time, not 3; name one"):
        train(TRAIN, label=LABELS)
    assert "for several labels" in refusal(TRAIN, label="spam", parents=["hate=abuse"])


def test_labels_are_not_columns_of_items() -> None:
    assert "cannot be part of the items" in refusal(TRAIN, label=LABELS, features=["x0", "hate"])
    assert "cannot be dropped" in refusal(TRAIN, label=LABELS, drop=["hate"])
