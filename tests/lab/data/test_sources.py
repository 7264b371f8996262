"""Where items come from: names, hashes, and what is opened once."""

import pickle

import numpy as np
import pytest

from quantshift.errors import DataError
from quantshift.lab.data import (
    DataFile,
    Dataset,
    FileSource,
    FolderSource,
    ImportOptions,
    ReviewFile,
    SyntheticSource,
    import_reviews,
    import_table,
    open_source,
    source_at,
)
from quantshift.tables.columns.names import check_data_set_name, folder_name


def test_the_hash_is_of_the_content(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    np.save(tmp_path / "y.npy", np.array(["a", "b", "a", "b"]))

    def hash_of(name, matrix):
        np.save(tmp_path / name, matrix)
        labels = DataFile(tmp_path / "y.npy")
        return FileSource(DataFile(tmp_path / name), None, labels, None).open().hash

    changed = X.copy()
    changed[3, 2] += 1e-9
    assert hash_of("a.npy", X) == hash_of("b.npy", X)
    assert hash_of("a.npy", X) != hash_of("c.npy", changed)


def test_a_source_is_opened_once_per_process():
    assert open_source(SyntheticSource(600)) is open_source(SyntheticSource(600))
    assert SyntheticSource(600).open().hash == open_source(SyntheticSource(600)).hash
    assert SyntheticSource(700).open().hash != open_source(SyntheticSource(600)).hash


def test_sources_have_names_fit_for_folders(tmp_path):
    labels = DataFile(tmp_path / "y.npy")
    features = DataFile(tmp_path / "My items (1).csv.gz")
    assert FileSource(features, None, labels, None).name == "My-items-1"
    assert FileSource(None, None, labels, None).name == "y"
    assert SyntheticSource(10).name == "synthetic"


@pytest.mark.parametrize(
    "text", ["", "..", "-", "a/b", " x ", ".hidden", "a=b", "ä" * 300, "\U00020000" * 90]
)
def test_any_text_becomes_a_name_that_stays(text):
    name = folder_name(text)
    assert check_data_set_name(name) == name
    assert not set(name) & set("/= \\")
    assert len(name.encode()) <= 200


def test_posteriors_have_a_column_for_every_class(tmp_path):
    np.save(tmp_path / "y.npy", np.array([1, 2, 3, 3]))
    np.save(tmp_path / "p.npy", np.full((4, 3), 1 / 3))
    np.save(tmp_path / "q.npy", np.full((4, 4), 1 / 4))
    labels = DataFile(tmp_path / "y.npy")
    dataset = FileSource(None, DataFile(tmp_path / "p.npy"), labels, None).open()
    assert dataset.posteriors.shape == (4, 3)
    assert dataset.classes.tolist() == [1, 2, 3]
    assert dataset.labelled.tolist() == [0, 1, 2, 3]
    with pytest.raises(DataError, match="4 columns but there are 3 classes"):
        FileSource(None, DataFile(tmp_path / "q.npy"), labels, None).open()


def test_a_place_is_a_data_set(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n4,a\n")
    import_table(
        tmp_path / "t.csv", tmp_path / "mine", label="y", options=ImportOptions(name="ours")
    )
    source = source_at(tmp_path / "mine")
    assert source == FolderSource(tmp_path / "mine")
    assert (source.name, source.title) == ("ours", "t.csv")
    assert pickle.loads(pickle.dumps(source)) == source
    assert open_source(source) is open_source(FolderSource(tmp_path / "mine"))
    assert open_source(source).labels.tolist() == ["a", "b", "a"]

    (tmp_path / "r.txt").write_text("5\ta good book\n1\ta bad one\n")
    files = [ReviewFile("Books", tmp_path / "r.txt")]
    import_reviews(files, tmp_path / "größte Bücher", min_chars=0)
    reviews = source_at(str(tmp_path / "größte Bücher"))
    assert reviews == FolderSource(tmp_path / "größte Bücher")
    assert (reviews.name, reviews.title) == ("größte-Bücher", "größte Bücher")
    dataset = open_source(reviews)
    assert (dataset.ordinal, dataset.classes.tolist()) == (True, [1, 5])


def test_a_relative_place_is_made_absolute(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n4,a\n")
    import_table(tmp_path / "t.csv", tmp_path / "mine", label="y")
    monkeypatch.chdir(tmp_path)
    assert source_at("mine") == FolderSource(tmp_path / "mine")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere", "nowhere does not exist; create one with `quantshift data import`"),
        ("folder", "folder is not a data set"),
        ("other", "other is not a data set"),
        ("t.csv", "t.csv is a file; import it with `quantshift data import`"),
    ],
)
def test_other_places_are_refused(name, message, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "manifest.json").write_text('{"format": "another"}')
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n")
    with pytest.raises(DataError, match=message):
        source_at(tmp_path / name)


def test_unlabelled_items_have_no_class():
    labels = np.array([2, None, 1, None], dtype=object)
    dataset = Dataset(name="d", title="d", labels=labels, hash="")
    assert dataset.labelled.tolist() == [0, 2]
    assert dataset.classes.tolist() == [1, 2]
    assert dataset.classes.dtype == np.int64
