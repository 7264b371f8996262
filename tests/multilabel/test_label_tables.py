"""Labels in any form are one table; what would need guessing is refused in one line."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array

from quantshift.errors import DataError
from quantshift.multilabel import label_table
from quantshift.multilabel.label_tables import check_learnable

HAS = [[1, 0, 1], [0, 0, 0], [0, 1, 1], [1, 1, 0]]
SETS = [{"a", "c"}, set(), {"b", "c"}, {"a", "b"}]


@pytest.mark.parametrize(
    "labels",
    [
        np.array(HAS),
        np.array(HAS, dtype=bool),
        np.array(HAS, dtype=float),
        HAS,
        coo_array(np.array(HAS)),
        pd.DataFrame(HAS, columns=["a", "b", "c"]),
        pl.DataFrame(HAS, schema=["a", "b", "c"], orient="row"),
        SETS,
        [sorted(labels) for labels in SETS],
        [tuple(labels) for labels in SETS],
        np.array([frozenset(labels) for labels in SETS], dtype=object),
    ],
    ids=["int", "bool", "float", "list", "coo", "pandas", "polars", "sets", "lists", "tuples", "o"],
)
def test_every_form_is_the_same_table(labels):
    table = label_table(labels)
    assert table.has.astype(int).tolist() == HAS
    assert table.names.tolist() in (["a", "b", "c"], [0, 1, 2])
    assert table.shares().tolist() == [0.5, 0.5, 0.5]
    assert table.shares(np.array([1.0, 1, 2, 0])).tolist() == [0.25, 0.5, 0.75]


def test_rows_of_two_texts_are_sets_of_labels():
    table = label_table([("a", "b"), ("b", "c")])
    assert table.has.astype(int).tolist() == [[1, 1, 0], [0, 1, 1]]


def test_names_can_be_given():
    assert label_table(np.array(HAS), ["x", "y", "z"]).names.tolist() == ["x", "y", "z"]
    given = label_table(SETS, ["c", "b", "a", "d"])
    assert given.shares().tolist() == [0.5, 0.5, 0.5, 0.0]


@pytest.mark.parametrize(
    ("labels", "names", "message"),
    [
        (np.array([[1, 2]]), None, "item 0, column 1, is 2: it must be 0 or 1"),
        (np.array([[1, np.nan]]), None, "item 0, column 1, is nan"),
        (np.array([1, 0, 1]), None, "a row per item and a column per label"),
        (np.zeros((0, 2)), None, "at least one item and one label"),
        ("spam", None, "an indicator matrix or a set of labels for each item"),
        ([{"a"}, "spam"], None, "the labels of item 1 are 'spam': give a set"),
        ([{"a"}, None], None, "the labels of item 1 are None: .* such as an empty set"),
        ([set(), set()], None, "no item has a label"),
        ([{"a"}, {"b"}], ["a"], "item 1 has the label 'b', which is not among the names"),
        (np.array(HAS), ["x", "y"], "2 names do not fit 3 columns"),
        (np.array(HAS), ["x", "y", "x"], "label 'x' is named twice"),
        (np.array([["a", 1], [1, 0]], dtype=object), ["x", "y"], "the labels of|has the label"),
    ],
)
def test_what_would_need_guessing_is_refused(labels, names, message):
    with pytest.raises(DataError, match=message) as caught:
        label_table(labels, names)
    assert "\n" not in str(caught.value)


def test_labels_that_cannot_be_learnt_are_named():
    has = np.zeros((10, 8), dtype=bool)
    has[:5, 0] = True
    with pytest.raises(DataError, match="labels 1, 2, 3, 4, 5 and 2 more: at least 2 items with"):
        check_learnable(label_table(has))
    has = np.zeros((10, 2), dtype=bool)
    has[:5, 0] = has[:9, 1] = True
    with pytest.raises(DataError, match="label 1: at least 2 items without a label"):
        check_learnable(label_table(has))
    check_learnable(label_table(has[:, :1]))
    with pytest.raises(DataError, match="label 0"):
        check_learnable(label_table(has[:, :1]), np.array([1.0] + 4 * [0.0] + 5 * [1.0]))
