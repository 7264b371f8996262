"""Samples that come with the data: lists of rows, or files of their own."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, save_npz

from quantshift.errors import UserError
from quantshift.lab.data import DataFile, ImportOptions, import_arrays, import_table

N = 30


@pytest.fixture
def main(tmp_path):
    """Thirty rows: x is half the number of the row, the last ten have no label."""
    table = pl.DataFrame(
        {
            "x": [i / 2 for i in range(N)],
            "word": [("u", "v")[i % 2] for i in range(N)],
            "y": [None if i >= 20 else i % 3 for i in range(N)],
        }
    )
    table.write_csv(tmp_path / "main.csv")
    return tmp_path / "main.csv"


def lists(folder, samples):
    rows = [(name, row) for name, sample in samples.items() for row in sample]
    path = folder / "samples.csv"
    pl.DataFrame(rows, schema=["sample", "row"], orient="row").write_csv(path)
    return path


def prevalences(folder, rows, names=("0", "1", "2"), file="prevalences.csv"):
    path = folder / file
    pl.DataFrame(rows, schema=["id", *names], orient="row").write_csv(path)
    return path


def test_lists_with_true_prevalences(main, tmp_path):
    # Columns in another order than the classes, samples in another than the list's.
    truth = prevalences(tmp_path, [(10, 0.5, 0.2, 0.3), (9, 0.0, 1.0, 0.0)], ("2", "0", "1"))
    samples = lists(tmp_path, {"10": [20, 25, 25], "9": [21, 3]})
    options = ImportOptions(samples=samples, prevalences=truth)
    data = import_table(main, tmp_path / "d", label="y", options=options)
    data.verify()
    dataset = data.dataset()
    # Of the rows without label 20, 21 and 25 are in samples; the others are left out.
    assert data.manifest["rows"]["left_out"] == {"no label": 7}
    assert dataset.labels.tolist() == [*(i % 3 for i in range(20)), None, None, None]
    assert dataset.labelled.tolist() == list(range(20))
    assert dataset.classes.tolist() == [0, 1, 2]
    given = dataset.given
    assert given.names == ("9", "10")
    numbers = dataset.features.numbers[:, 0]
    assert [numbers[rows].tolist() for rows in given.samples] == [[10.5, 1.5], [10, 12.5, 12.5]]
    assert_allclose(given.prevalences, [[1, 0, 0], [0.2, 0.3, 0.5]])
    assert given.train.tolist() == [i for i in range(20) if i != 3]
    assert data.manifest["given"] == {"samples": 2, "train": 19, "smallest": 2, "largest": 3}


def test_prevalences_are_counted_where_items_have_labels(main, tmp_path):
    samples = lists(tmp_path, {"b": [0, 1, 3, 4], "a": [2]})
    data = import_table(main, tmp_path / "d", label="y", options=ImportOptions(samples=samples))
    given = data.dataset().given
    assert given.names == ("a", "b")
    assert_allclose(given.prevalences, [[0, 0, 1], [0.5, 0.5, 0]])


@pytest.mark.parametrize("ending", ["csv", "txt"])
def test_a_file_per_sample(ending, main, tmp_path):
    folder = tmp_path / "dev_samples"
    folder.mkdir()
    frames = {
        "0": pl.DataFrame({"word": ["u", "new"], "x": [100.0, None], "more": [1, 2]}),
        "2": pl.DataFrame({"x": [200.5], "word": ["v"]}),
        "10": pl.DataFrame({"x": [300.0, 301.0, 302.0], "word": ["u", "u", None]}),
    }
    for name, frame in frames.items():
        frame.write_csv(folder / f"{name}.{ending}")
    truth = prevalences(tmp_path, [(0, 0.5, 0.5, 0.0), (2, 1, 0, 0), (10, 0.3333, 0.3333, 0.3333)])
    options = ImportOptions(samples=folder, prevalences=truth)
    data = import_table(main, tmp_path / "d", label="y", options=options)
    data.verify()
    dataset = data.dataset()
    assert len(dataset) == 26
    assert data.manifest["rows"]["of_samples"] == 6
    assert data.manifest["unlabelled"] == 6
    given = dataset.given
    assert given.names == ("0", "2", "10")
    assert [rows.tolist() for rows in given.samples] == [[20, 21], [22], [23, 24, 25]]
    assert_allclose(dataset.features.numbers[20:, 0], [100, np.nan, 200.5, 300, 301, 302])
    words = dataset.features.levels[0]
    assert [(*words, None)[code] for code in dataset.features.codes[20:, 0]] == [
        *("u", "new", "v"),
        *("u", "u", None),
    ]
    assert given.train.tolist() == list(range(20))
    assert_allclose(given.prevalences.sum(axis=1), 1, atol=1e-14)
    view = dataset.view(given.train)
    assert np.isfinite(view.transform(given.samples[0])).all()


def test_texts_in_a_file_per_sample(tmp_path):
    pl.DataFrame({"text": ["one two", "two", "three"], "y": ["a", "b", "a"]}).write_csv(
        tmp_path / "t.csv"
    )
    (tmp_path / "s").mkdir()
    pl.DataFrame({"text": ["four, four", "two"]}).write_csv(tmp_path / "s" / "0.txt")
    truth = prevalences(tmp_path, [(0, 0.5, 0.5)], ("a", "b"))
    options = ImportOptions(samples=tmp_path / "s", prevalences=truth)
    dataset = import_table(
        tmp_path / "t.csv", tmp_path / "d", label="y", text="text", options=options
    ).dataset()
    assert dataset.features.vocabulary.to_pylist() == ["four", "one", "three", "two"]
    assert dataset.features.rows(dataset.given.samples[0]).toarray().tolist() == [
        [2, 0, 0, 0],
        [0, 0, 0, 1],
    ]


@pytest.mark.parametrize("kind", ["features", "posteriors"])
def test_arrays_in_a_file_per_sample(kind, tmp_path):
    P = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]])
    np.save(tmp_path / "y.npy", np.array([0, 1, 0, 1]))
    np.save(tmp_path / "p.npy", P)
    (tmp_path / "s").mkdir()
    if kind == "features":
        save_npz(tmp_path / "s" / "0.npz", csr_array(P[:3]))
    else:
        np.save(tmp_path / "s" / "0.npy", P[:3])
    truth = prevalences(tmp_path, [(0, 0.5, 0.5)], ("0", "1"))
    data = import_arrays(
        tmp_path / "d",
        **{kind: tmp_path / "p.npy"},
        labels=DataFile(tmp_path / "y.npy"),
        options=ImportOptions(samples=tmp_path / "s", prevalences=truth),
    )
    data.verify()
    dataset = data.dataset()
    matrix = dataset.posteriors if kind == "posteriors" else dataset.features.matrix.toarray()
    assert_allclose(matrix, np.concatenate([P, P[:3]]))
    assert dataset.given.samples[0].tolist() == [4, 5, 6]
    assert dataset.labels.tolist() == [0, 1, 0, 1, None, None, None]


@pytest.mark.parametrize(
    ("samples", "truth", "message"),
    [
        ({"a": [0, 30]}, None, "row 30 is not among the 30 rows"),
        ({"a": [-1]}, None, "row -1 is not among"),
        ({"a": [0, 25]}, None, "sample 'a' has items without label"),
        ({"a": [i for i in range(20) if i % 3 == 1]}, None, "no item of class 1 is left to train"),
        ({"a": [0.5]}, None, "the number of a row of the data"),
        ({"a": [0]}, [("b", 1, 0, 0)], "sample 'a' is not in this file"),
        ({"a": [0]}, [("a", 1, 0, 0), ("b", 1, 0, 0)], "sample 'b' is not in the samples"),
        ({"a": [0]}, [("a", 1, 0, 0), ("a", 1, 0, 0)], "a sample occurs twice"),
        ({"a": [0]}, [("a", 1, 1, 0)], "sample 'a' do not sum to 1"),
        ({"a": [0]}, [("a", 2, -1, 0)], "sample 'a' do not sum to 1"),
    ],
)
def test_lists_that_do_not_fit_are_refused(samples, truth, message, main, tmp_path):
    options = ImportOptions(
        samples=lists(tmp_path, samples),
        prevalences=None if truth is None else prevalences(tmp_path, truth),
    )
    with pytest.raises(UserError, match=message):
        import_table(main, tmp_path / "d", label="y", options=options)
    assert not (tmp_path / "d").exists()


def test_columns_of_prevalences_are_the_classes(main, tmp_path):
    truth = prevalences(tmp_path, [("a", 1, 0, 0)], ("0", "1", "3"))
    options = ImportOptions(samples=lists(tmp_path, {"a": [0]}), prevalences=truth)
    with pytest.raises(UserError, match="after the first are 0, 1, 3, but the classes are 0, 1, 2"):
        import_table(main, tmp_path / "d", label="y", options=options)


def test_prevalences_without_samples_are_refused(main, tmp_path):
    with pytest.raises(UserError, match="give the samples too"):
        import_table(main, tmp_path / "d", label="y", options=ImportOptions(prevalences=main))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x\n1\n", "no column 'word'"),
        ("x,word\n", "sample '0' has no items"),
        ("x,word\n1\n", "1 rows have too many or too few cells"),
        ("x,word\nmuch,u\n", "column 'x' holds words such as 'much', but numbers in training"),
    ],
)
def test_sample_files_that_do_not_fit_are_refused(content, message, main, tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "0.csv").write_text(content)
    truth = prevalences(tmp_path, [(0, 1, 0, 0)])
    options = ImportOptions(samples=tmp_path / "s", prevalences=truth)
    with pytest.raises(UserError, match=message):
        import_table(main, tmp_path / "d", label="y", options=options)
    with pytest.raises(UserError, match="give the file of their true prevalences"):
        import_table(main, tmp_path / "d", label="y", options=ImportOptions(samples=tmp_path / "s"))
    assert not (tmp_path / "d").exists()


def test_an_empty_folder_and_two_files_of_a_sample_are_refused(main, tmp_path):
    (tmp_path / "s").mkdir()
    options = ImportOptions(
        samples=tmp_path / "s", prevalences=prevalences(tmp_path, [(0, 1, 0, 0)])
    )
    with pytest.raises(UserError, match="no tables or arrays in it"):
        import_table(main, tmp_path / "d", label="y", options=options)
    for name in ("0.csv", "0.txt"):
        (tmp_path / "s" / name).write_text("x,word\n1,u\n")
    with pytest.raises(UserError, match=r"0\.csv and 0\.txt are the same sample"):
        import_table(main, tmp_path / "d", label="y", options=options)


def test_rows_cannot_be_counted_where_some_are_ragged(main, tmp_path):
    main.write_text(main.read_text() + "1\n")
    options = ImportOptions(samples=lists(tmp_path, {"a": [0]}))
    with pytest.raises(UserError, match="1 rows of the data have too many or too few cells"):
        import_table(main, tmp_path / "d", label="y", options=options)
