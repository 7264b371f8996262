"""ARFF files with labels named in XML."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import issparse

from quantshift.errors import UserError
from quantshift.lab.data import load_mulan
from quantshift.lab.data.several_labels.mulan import read_label_names

XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="Swainson's Thrush"><label name="b"></label></label>
</labels>
"""
HEADER = r"""@relation r
@attribute x numeric
@attribute kind {one,two,three}
@attribute b {0,1}
@attribute flag {YES,NO}
@attribute 'Swainson\'s Thrush' {0,1}
@attribute word {0,1}
@data
"""


def files(folder, rows, *, header=HEADER, xml=XML):
    (folder / "t.arff").write_text(header + rows)
    (folder / "t.xml").write_text(xml)
    return folder / "t.arff", folder / "t.xml"


def test_dense_rows_become_numbers(tmp_path):
    items = load_mulan(*files(tmp_path, "1.5,two,1,YES,0,1\n?,?,0,NO,1,0\n"))
    assert items.labels.names.tolist() == ["Swainson's Thrush", "b"]
    assert items.labels.has.tolist() == [[False, True], [True, False]]
    assert items.features == ("x", "kind = one", "kind = two", "kind = three", "flag", "word")
    nan = np.nan
    np.testing.assert_array_equal(items.X, [[1.5, 0, 1, 0, 0, 1], [nan, nan, nan, nan, 1, 0]])


def test_sparse_rows_stay_sparse_and_mean_the_same(tmp_path):
    dense = load_mulan(*files(tmp_path, "0,one,1,YES,0,1\n2,three,0,NO,1,0\n"))
    sparse = load_mulan(*files(tmp_path, "{2 1,5 1}\n{0 2,1 three,3 NO,4 1}\n"))
    assert issparse(sparse.X)
    np.testing.assert_array_equal(sparse.X.toarray(), dense.X)
    np.testing.assert_array_equal(sparse.labels.has, dense.labels.has)


def test_a_sparse_row_means_the_first_value_by_leaving_a_column_out(tmp_path):
    header = """@relation r
@attribute a {0,1}
@attribute down {1,0}
@attribute kind {one,two,three}
@attribute x numeric
@data
"""
    path, _ = files(tmp_path, "{}\n{0 1,1 0,2 three,3 ?}\n{2 ?}\n", header=header)
    items = load_mulan(path, ["a"])
    nan = np.nan
    expected = [[1, 1, 0, 0, 0], [0, 0, 0, 1, nan], [1, nan, nan, nan, 0]]
    np.testing.assert_array_equal(items.X.toarray(), expected)
    assert items.labels.has[:, 0].tolist() == [False, True, False]


def test_many_columns_of_sparse_rows_take_no_memory(tmp_path):
    n_features, n_items = 10_000, 1000
    columns = "".join(f"@attribute f{j} {{0,1}}\n" for j in range(n_features))
    rows = "".join(f"{{{i % 3} 1,{7 * i + 3} 1}}\n" for i in range(n_items))
    header = f"@relation r\n@attribute a {{0,1}}\n@attribute b {{0,1}}\n{columns}@data\n"
    path, _ = files(tmp_path, rows, header=header)
    tracemalloc.start()
    items = load_mulan(path, ["a", "b"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert items.X.shape == (n_items, n_features)
    assert items.X.sum() == n_items + n_items // 3
    assert peak < 8 * n_items * n_features / 2


def test_names_can_be_given_instead_of_a_file(tmp_path):
    path, _ = files(tmp_path, "0,one,1,YES,0,1\n")
    items = load_mulan(path, ["word", "b"])
    assert items.labels.names.tolist() == ["word", "b"]
    assert "Swainson's Thrush" in items.features


def test_labels_within_labels_are_labels(tmp_path):
    assert read_label_names(files(tmp_path, "")[1]) == ["Swainson's Thrush", "b"]


ROW = "0,one,1,YES,0,1\n"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"xml": "<labels>"}, "t.xml: not a readable XML file"),
        ({"xml": "<labels/>"}, "t.xml: no labels; expected <labels><label name="),
        ({"xml": "<labels><label/></labels>"}, "t.xml: label 1 has no name"),
        (
            {"xml": '<labels><label name="b"/><label name="b"/></labels>'},
            "t.xml: label 'b' is named twice",
        ),
        ({"xml": '<labels><label name="wrod"/></labels>'}, "t.arff: no column 'wrod'; did you"),
        ({"rows": ""}, "t.arff: no rows after '@data'"),
        ({"rows": "0,one,?,YES,0,1\n"}, "row 1: label 'b' is missing; it must be 0 or 1"),
        (
            {"rows": ROW + "0,one,1,YES,0,1\n", "xml": '<labels><label name="kind"/></labels>'},
            "row 1: label 'kind' is 'one'; it must be 0 or 1",
        ),
        ({"rows": "{0 one}\n"}, "t.arff: line 9: the value 'one' of 'x' is not a number"),
        ({"rows": "{1 four}\n"}, "line 9: the value 'four' of 'kind' is not among the declared"),
        ({"rows": "{2 ?}\n"}, "row 1: label 'b' is missing; it must be 0 or 1"),
        ({"header": HEADER.replace("x numeric", "x string")}, "'x' holds strings or dates"),
    ],
)
def test_broken_files_are_refused_in_one_line(tmp_path, changed, message):
    rows = changed.pop("rows", ROW)
    with pytest.raises(UserError) as refusal:
        load_mulan(*files(tmp_path, rows, **changed))
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_other_formats_and_missing_files_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,0\n")
    with pytest.raises(UserError, match="not an ARFF file; give one that ends in"):
        load_mulan(tmp_path / "t.csv", ["b"])
    with pytest.raises(UserError, match="no such file"):
        load_mulan(tmp_path / "none.arff", ["b"])
    with pytest.raises(UserError, match="no such file"):
        load_mulan(files(tmp_path, ROW)[0], tmp_path / "none.xml")
    with pytest.raises(UserError, match="give at least one label"):
        load_mulan(tmp_path / "t.arff", [])


# Items, features and labels as Mulan's list of data sets has them. The place of birds
# and the protein of genbase have a column for each of their values.
REAL = {
    "emotions": (593, 72, 6),
    "yeast": (2417, 103, 14),
    "birds": (645, 259 + 12, 19),
    "genbase": (662, 1185 + 662, 27),
    "medical": (978, 1449, 45),
    "enron": (1702, 1001, 53),
}


@pytest.mark.parametrize("name", REAL)
def test_real_sets_have_the_sizes_that_are_known(mulan_dir, name):
    parts = [
        load_mulan(mulan_dir / f"{name}-{part}.arff.gz", mulan_dir / f"{name}.xml")
        for part in ("train", "test")
    ]
    n_items, n_features, n_labels = REAL[name]
    assert sum(len(part.labels) for part in parts) == n_items
    for part in parts:
        assert part.X.shape == (len(part.labels), n_features)
        assert part.labels.has.shape[1] == n_labels
        assert len(part.features) == n_features
    assert parts[0].features == parts[1].features
