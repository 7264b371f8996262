"""Data sets with several labels on disk: imported, described, read again."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import issparse

from quantshift.errors import UserError
from quantshift.lab.data import LabelData, import_labelled_items, load_mulan
from quantshift.lab.data.importing.options import ImportOptions
from quantshift.lab.data.several_labels.label_data import find_label_data, render_label_data

HEADER = """@relation r
@attribute x numeric
@attribute kind {one,two,three}
@attribute a {0,1}
@attribute b {0,1}
@data
"""
DENSE = "1,one,1,0\n2,two,0,1\n3,three,1,1\n4,one,0,0\n5,one,1,0\n6,two,0,1\n"
SPARSE = "{0 1,2 1}\n{0 2,1 two,3 1}\n{2 1,3 1}\n{0 4}\n"
XML = '<labels><label name="a"/><label name="b"/></labels>'

ROWS = 90
TABLE = pl.DataFrame(
    {
        "n": [float(i % 7) for i in range(ROWS)],
        "colour": [("red", "blue", "green")[i % 3] for i in range(ROWS)],
        "spam": ["yes" if i % 2 else "no" for i in range(ROWS)],
        "abuse": [None if i == 5 else int(i % 3 == 0) for i in range(ROWS)],
    }
)


@pytest.fixture
def mulan(tmp_path: Path) -> Path:
    (tmp_path / "train.arff").write_text(HEADER + DENSE)
    (tmp_path / "test.arff").write_text(HEADER + "1,one,1,0\n2,two,0,1\n3,three,1,1\n")
    (tmp_path / "sparse.arff").write_text(HEADER + SPARSE)
    (tmp_path / "r.xml").write_text(XML)
    return tmp_path


def test_files_of_mulan_are_kept_as_they_are(mulan: Path) -> None:
    files = [mulan / name for name in ("train.arff", "test.arff", "r.xml")]
    data = import_labelled_items(files, mulan / "set")
    data.verify()
    for part, file in (("train", files[0]), ("test", files[1])):
        kept, given = data.items(part), load_mulan(file, files[2])
        np.testing.assert_array_equal(kept.X, given.X)
        np.testing.assert_array_equal(kept.labels.has, given.labels.has)
        assert kept.labels.names.tolist() == ["a", "b"]
        assert kept.features == given.features
    assert data.name == "set"


def test_sparse_rows_stay_sparse(mulan: Path) -> None:
    files = [mulan / "sparse.arff", mulan / "sparse.arff", mulan / "r.xml"]
    data = import_labelled_items(files, mulan / "set")
    assert issparse(data.items("train").X)
    given = load_mulan(files[0], files[2]).X
    np.testing.assert_array_equal(data.items("test").X.toarray(), given.toarray())
    data.verify()


def test_label_columns_and_one_column_of_labels_are_the_same(tmp_path: Path) -> None:
    TABLE.write_csv(tmp_path / "columns.csv")
    cells = [
        "NA"
        if row["abuse"] is None
        else ";".join(
            n for n, has in (("spam", row["spam"] == "yes"), ("abuse", row["abuse"])) if has
        )
        for row in TABLE.rows(named=True)
    ]
    tags = TABLE.drop("spam", "abuse").with_columns(pl.Series("tags", cells))
    tags.write_csv(tmp_path / "tags.csv")
    columns = import_labelled_items(
        [tmp_path / "columns.csv"], tmp_path / "one", label=["abuse", "spam"]
    )
    separated = import_labelled_items(
        [tmp_path / "tags.csv"], tmp_path / "two", label=["tags"], separator=";"
    )
    assert columns.hash == separated.hash
    assert columns.manifest["items"] == {"train": 59, "test": 30}
    assert any("1 row of columns.csv do" in note for note in columns.manifest["notes"])
    train, test = columns.items("train"), columns.items("test")
    # The number is in units of its spread in training, and every colour is a column.
    assert train.X.shape[1] == test.X.shape[1] == 4
    assert train.X[:, 0].mean() == pytest.approx(0, abs=1e-12)
    rows = TABLE.with_row_index().filter(pl.col("index") != 5)
    n_spam = int((rows["spam"] == "yes").sum())
    assert train.labels.has[:, 1].sum() + test.labels.has[:, 1].sum() == n_spam


def test_the_split_follows_its_share_and_seed(tmp_path: Path) -> None:
    TABLE.write_csv(tmp_path / "t.csv")
    hashes = []
    for number, options in enumerate(
        [
            ImportOptions(test_share=0.5),
            ImportOptions(test_share=0.5),
            ImportOptions(test_share=0.5, split_seed=1),
        ]
    ):
        data = import_labelled_items(
            [tmp_path / "t.csv"], tmp_path / f"s{number}", label=["spam"], options=options
        )
        assert data.manifest["items"] == {"train": 45, "test": 45}
        hashes.append(data.hash)
    assert hashes[0] == hashes[1] != hashes[2]


def test_few_labels_are_those_that_occur_together(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "x": [float(i % 7) for i in range(40)],
            "often": [i % 2 for i in range(40)],
            "with": [i % 2 for i in range(40)],
            "alone": [1 - i % 2 for i in range(40)],
            "never": [0] * 40,
        }
    )
    frame.write_csv(tmp_path / "t.csv")
    names = ["often", "with", "alone", "never"]
    data = import_labelled_items([tmp_path / "t.csv"], tmp_path / "s", label=names, most_labels=2)
    assert [entry["name"] for entry in data.manifest["labels"]] == ["often", "with"]
    every = import_labelled_items([tmp_path / "t.csv"], tmp_path / "e", label=names)
    assert [entry["name"] for entry in every.manifest["labels"]] == names[:3]
    assert any("never" in note for note in every.manifest["notes"])


@pytest.mark.parametrize(
    ("files", "options", "problem"),
    [
        (["t.csv"], {}, "which columns are the labels"),
        ([], {"label": ["spam"]}, "0 tables: give one"),
        (["t.csv"] * 3, {"label": ["spam"]}, "3 tables: give one"),
        (["train.arff", "r.xml", "s.xml"], {}, "a second file of label names"),
        (["train.arff", "r.xml"], {"label": ["a"]}, "names the columns of the labels already"),
        (["t.csv"], {"label": ["spam", "abuse"], "separator": ";"}, "divides the cells of one"),
        (["t.csv"], {"label": ["spam", "spam"]}, "the label 'spam' is named twice"),
        (
            ["gaps.csv"],
            {"label": ["spam", "abuse"]},
            "no row says its labels in 'spam' and 'abuse'",
        ),
        (["t.csv"], {"label": ["spma"]}, "no column 'spma'; did you mean 'spam'"),
        (["t.csv"], {"label": ["n"]}, "row 3, column 'n': '2' does not say"),
        (
            ["t.csv"],
            {"label": ["colour"], "separator": ";", "drop": ["n", "spam", "abuse"]},
            "left",
        ),
        (["train.arff", "r.xml"], {"drop": ["x"]}, "cannot be left out"),
        (["t.csv"], {"label": ["spam"], "options": ImportOptions(name="a/b")}, "cannot name"),
        (
            ["t.csv"],
            {"label": ["spam"], "options": ImportOptions(test_share=2)},
            "not between 0 and 1",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_imported_is_refused(
    mulan: Path, files: list[str], options: dict, problem: str
) -> None:
    TABLE.write_csv(mulan / "t.csv")
    TABLE.with_columns(abuse=None).write_csv(mulan / "gaps.csv")
    (mulan / "s.xml").write_text(XML)
    with pytest.raises(UserError, match=problem):
        import_labelled_items([mulan / file for file in files], mulan / "set", **options)
    assert not (mulan / "set").exists()


def test_an_older_data_set_is_replaced_only_if_asked_for(mulan: Path) -> None:
    files = [mulan / "train.arff", mulan / "r.xml"]
    import_labelled_items(files, mulan / "set")
    with pytest.raises(UserError, match="already holds a data set with several labels"):
        import_labelled_items(files, mulan / "set")
    replaced = import_labelled_items(
        files, mulan / "set", options=ImportOptions(overwrite=True, name="new")
    )
    assert LabelData.open(mulan / "set").name == replaced.name == "new"


@pytest.mark.parametrize("change", ["labels", "manifest", "gone"])
def test_damage_is_found(mulan: Path, change: str) -> None:
    import_labelled_items([mulan / "train.arff", mulan / "r.xml"], mulan / "set")
    labels, manifest = mulan / "set" / "train-labels.npy", mulan / "set" / "manifest.json"
    if change == "labels":
        labels.write_bytes(labels.read_bytes()[:-1] + b"\x01")
    elif change == "manifest":
        manifest.write_text(manifest.read_text().replace('"a"', '"c"'))
    else:
        labels.unlink()
    with pytest.raises(UserError, match="damaged data set"):
        LabelData.open(mulan / "set").verify()
    (listed,) = find_label_data([mulan])
    assert (listed.kind == "damaged") == (change != "labels")


def test_a_description_counts_items_and_labels(mulan: Path) -> None:
    files = [mulan / name for name in ("train.arff", "test.arff", "r.xml")]
    data = import_labelled_items(files, mulan / "set")
    text = render_label_data(data.manifest)
    assert text.splitlines()[0] == "set: 2 labels, 4 features"
    assert text.splitlines()[3].split() == ["a", "3", "2"]
    assert json.loads(render_label_data(data.manifest, "json"))["items"] == {"train": 6, "test": 3}
    assert "| a |" in render_label_data(data.manifest, "markdown")
    with pytest.raises(UserError, match="unknown format 'yaml'"):
        render_label_data(data.manifest, "yaml")
    (listed,) = find_label_data([mulan])
    assert (listed.name, listed.kind, listed.items, listed.classes) == ("set", "labels", 9, 2)
