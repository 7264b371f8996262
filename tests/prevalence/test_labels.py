"""Label vectors of every kind become the same codes, or a clear error."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

from quantshift.errors import DataError
from quantshift.prevalence.labels import column, encode_labels

CODES = [1, 0, 0, 1, 1]

KINDS = {
    "bool list": [True, False, False, True, True],
    "bool array": np.array(CODES, dtype=bool),
    "int list": CODES,
    "int8": np.array(CODES, dtype=np.int8),
    "uint64": np.array(CODES, dtype=np.uint64),
    "one two": [2, 1, 1, 2, 2],
    "minus one": np.array([1, -1, -1, 1, 1]),
    "integral floats": [2.0, 1.0, 1.0, 2.0, 2.0],
    "float32": np.array([2, 1, 1, 2, 2], dtype=np.float32),
    "ints and integral floats": [2, 1.0, 1.0, 2, 2],
    "strings": ["pos", "neg", "neg", "pos", "pos"],
    "tuple": ("pos", "neg", "neg", "pos", "pos"),
    "object strings": np.array(["pos", "neg", "neg", "pos", "pos"], dtype=object),
    "numpy strings": np.array(["pos", "neg", "neg", "pos", "pos"]),
    "variable-width strings": np.array(["pos", "neg", "neg", "pos", "pos"], dtype="T"),
    "object bools": np.array([True, False, False, True, True], dtype=object),
    "object ints": np.array(CODES, dtype=object),
    "numpy scalars": [np.int64(code) for code in CODES],
    "pandas strings": pd.Series(["pos", "neg", "neg", "pos", "pos"], index=[9, 8, 7, 6, 5]),
    "pandas nullable": pd.Series(CODES, dtype="Int64"),
    "pandas nullable bool": pd.Series(CODES, dtype="boolean"),
    "pandas categorical": pd.Categorical.from_codes(CODES, ["neg", "pos", "unused"]),
    "pandas categorical, other order": pd.Series(["pos", "neg", "neg", "pos", "pos"]).astype(
        pd.CategoricalDtype(["pos", "never", "neg"], ordered=True)
    ),
    "polars int": pl.Series(CODES, dtype=pl.Int8),
    "polars bool": pl.Series(CODES).cast(pl.Boolean),
    "polars string": pl.Series(["pos", "neg", "neg", "pos", "pos"]),
    "polars categorical": pl.Series(["pos", "neg", "neg", "pos", "pos"], dtype=pl.Categorical),
    "polars enum": pl.Series(
        ["pos", "neg", "neg", "pos", "pos"], dtype=pl.Enum(["pos", "neg", "unused"])
    ),
    "arrow": pa.array(["pos", "neg", "neg", "pos", "pos"]),
    "masked, nothing hidden": np.ma.array(CODES, mask=False),
}


@pytest.mark.parametrize("y", KINDS.values(), ids=KINDS.keys())
def test_every_kind_of_label_gives_the_same_codes(y):
    classes, codes = encode_labels(y)
    assert codes.tolist() == CODES
    assert codes.dtype == np.int64
    assert len(classes) == 2
    assert classes[codes].tolist() == list(np.asarray(y).tolist())


@pytest.mark.parametrize("kind", ["bool list", "one two", "strings", "object strings", "int8"])
def test_classes_equal_those_of_scikit_learn(kind):
    y = KINDS[kind]
    fitted = LogisticRegression().fit(np.arange(5.0)[:, None], y).classes_
    classes, _ = encode_labels(y)
    assert classes.tolist() == fitted.tolist()
    assert classes.dtype.kind == ("U" if fitted.dtype.kind == "O" else fitted.dtype.kind)


@pytest.mark.parametrize(
    ("y", "dtype"),
    [([True, False], "bool"), ([1, 2], "int64"), (["a", "bc"], "<U2"), ([1.0, 2.0], "float64")],
)
def test_classes_have_their_natural_dtype(y, dtype):
    assert encode_labels(y)[0].dtype == np.dtype(dtype)


WRONG = {
    "none": (["a", None], "missing value at position 1"),
    "nan": ([1.0, np.nan], "missing value at position 1"),
    "nan among strings": (np.array(["a", "b", np.nan], dtype=object), "position 2"),
    "pandas NA": (pd.Series(["a", None], dtype="string"), "missing value at position 1"),
    "pandas NA int": (pd.Series([None, 1], dtype="Int64"), "missing value at position 0"),
    "pandas categorical": (pd.Categorical(["a", None]), "missing value at position 1"),
    "NaT": ([1, pd.NaT], "missing value at position 1"),
    "polars null": (pl.Series([True, None]), "missing value at position 1"),
    "polars null int": (pl.Series([1, None]), "missing value at position 1"),
    "masked": (np.ma.array([0, 1, 1], mask=[False, True, False]), "position 1"),
    "infinite": ([1.0, -np.inf], "-inf at position 1"),
    "empty": ([], "empty"),
    "mixed": (["a", "b", 1], r"integers \(position 2\), strings \(position 0\)"),
    "bool and int": ([True, 2], "mix types"),
    "two columns": (np.zeros((3, 2)), r"one column, got an array of shape \(3, 2\)"),
    "scalar": (3, "one column"),
    "one string": ("abc", "one column"),
    "frame": (pd.DataFrame({"y": [0, 1]}), "one column"),
    "continuous": ([0.0, 1.0, 0.25], "look continuous: 0.25 at position 2"),
    "bytes": (np.array([b"a", b"b"]), "are not supported"),
    "dates": (pd.Series(pd.to_datetime(["2020-01-01"])), "are not supported"),
    "sets": ([1, {2}], r"type set \(position 1\)"),
    "ragged": ([[1, 2], [3]], "type list"),
    "arrays": (pl.Series([[1, 2], [3, 4]]), "type ndarray"),
    "huge": ([2**70, 1], "beyond 64 bits"),
    "huge unsigned": (np.array([2**63, 1], dtype=np.uint64), "beyond 64 bits"),
}


@pytest.mark.parametrize(("y", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_cannot_be_labels_is_refused_with_place_and_cure(y, message):
    with pytest.raises(DataError, match=message):
        encode_labels(y)


def test_given_classes_fix_the_codes():
    classes, codes = encode_labels(["b", "b"], classes=["c", "a", "b"])
    assert classes.tolist() == ["c", "a", "b"]
    assert codes.tolist() == [2, 2]
    with pytest.raises(DataError, match="classes name a class twice"):
        encode_labels(["b"], classes=["b", "a", "b"])


def test_given_classes_of_integers_accept_integral_floats():
    classes, codes = encode_labels([2.0, 1.0], classes=[1, 2])
    assert classes.tolist() == [1, 2]
    assert codes.tolist() == [1, 0]


def test_labels_outside_the_given_classes_are_named():
    with pytest.raises(DataError, match=r"2 labels are outside .* position 1, e\.g\. 'x', 'z'"):
        encode_labels(["a", "z", "x"], classes=["a", "b"])


@pytest.mark.parametrize(("y", "classes"), [([True], [0, 1]), (["1"], [1, 2]), ([1], ["1"])])
def test_labels_and_classes_of_different_kinds_are_refused(y, classes):
    with pytest.raises(DataError, match="but the classes are"):
        encode_labels(y, classes=classes)


def test_the_vector_is_called_by_its_name():
    with pytest.raises(DataError, match="categories have a missing value"):
        encode_labels([None], name="categories")


def test_column_keeps_fractions_and_order():
    assert column([0.5, 4.0]).tolist() == [0.5, 4.0]


def test_text_that_is_no_unicode_is_refused():
    """A bit of a saved array was flipped: polars panicked."""
    for code in (0xD800, 0x110001):
        values = np.array(["spam", "ham"])
        values.view(np.uint32)[1] = code
        with pytest.raises(DataError, match="text that is not Unicode"):
            column(values)
