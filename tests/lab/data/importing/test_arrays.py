"""Matrices and columns from files; what is none is refused with its path."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, save_npz

from quantshift.errors import DataError
from quantshift.lab.data import DataFile, read_matrix
from quantshift.lab.data.importing.arrays import read_column


def write_matrix(path, kind):
    if kind == "text":
        path.write_text("not a matrix")
    elif kind == "vector":
        np.save(path, np.arange(4.0))
    elif kind == "nan":
        np.save(path, np.array([[1.0, 2.0], [3.0, np.nan]]))
    elif kind == "sparse nan":
        save_npz(path, csr_array(np.array([[1.0, 2.0], [0.0, 0.0], [0.0, np.inf]])))
    elif kind == "words":
        path.write_text("a,b\n1,x\n2,y\n")
    elif kind == "two arrays":
        np.savez(path, a=np.zeros((2, 2)), b=np.ones((2, 2)))
    elif kind == "nothing":
        path.write_bytes(b"")
    elif kind == "complex":
        np.save(path, np.array([[1 + 2j, 0], [0, 1]]))
    elif kind == "sparse complex":
        save_npz(path, csr_array(np.array([[1 + 2j, 0], [0, 1]])))
    elif kind == "dates":
        np.save(path, np.array([["2026-01-01", "2026-01-02"]], dtype="datetime64[D]"))
    elif kind == "no columns":
        np.save(path, np.zeros((3, 0)))
    elif kind == "sparse no columns":
        save_npz(path, csr_array((3, 0)))
    elif kind.startswith("index"):
        place = int(kind.removeprefix("index "))
        parts = {"data": np.ones(3), "indices": np.full(3, place), "indptr": np.arange(4)}
        np.savez(path, format=b"csr", shape=[3, 3], **parts)


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("x.npy", "text", "not a matrix of numbers"),
        ("x.npz", "text", "not a matrix of numbers"),
        ("x.npz", "two arrays", "which array? the file has a, b; write x.npz:a for one of them"),
        ("x.csv", "words", "not a matrix of numbers: row 1 of column 'b' holds 'x'; fix it"),
        ("x.parquet", "text", "not a Parquet file"),
        ("x.npy", "vector", "two axes, got shape (4,)"),
        ("x.npy", "nan", "row 1 holds NaN or infinity"),
        ("x.npz", "sparse nan", "row 2 holds NaN or infinity"),
        # these were a complex number's real part, days since 1970, and a data set of no use
        ("x.npy", "complex", "holds complex numbers (complex128)"),
        ("x.npz", "sparse complex", "holds complex numbers (complex128)"),
        ("x.npy", "dates", "holds dates (datetime64[D])"),
        ("x.npy", "no columns", "a matrix without columns"),
        ("x.npz", "sparse no columns", "a matrix without columns"),
        ("x.npy", "nothing", "not a matrix of numbers"),
        # these read or wrote memory that is not the matrix's; a run died with signal 11
        ("x.npz", "index 3", "a damaged sparse matrix of shape (3, 3)"),
        ("x.npz", "index 50000000", "a damaged sparse matrix of shape (3, 3)"),
        ("x.npz", "index -1", "a damaged sparse matrix of shape (3, 3)"),
        ("x.bin", "text", ".npz (SciPy sparse, or file.npz:array), .npy or a table: .csv, .tsv"),
    ],
)
def test_what_is_no_matrix_is_refused_with_its_path(name, kind, message, tmp_path):
    write_matrix(tmp_path / name, kind)
    with pytest.raises(DataError) as error:
        read_matrix(tmp_path / name)
    assert message in str(error.value)
    assert str(tmp_path / name) in str(error.value)


def test_an_empty_vector_file_is_refused_with_its_path(tmp_path):
    """It was an EOFError, which the command line took for Ctrl-D ("Aborted.")."""
    (tmp_path / "y.npy").write_bytes(b"")
    with pytest.raises(DataError, match=r"y\.npy: not a NumPy array"):
        read_column(DataFile(tmp_path / "y.npy"))


def test_whole_numbers_become_floats(tmp_path):
    save_npz(tmp_path / "x.npz", csr_array(np.array([[1, 0], [0, 2]])))
    matrix = read_matrix(tmp_path / "x.npz")
    assert matrix.dtype == np.float64
    assert_allclose(matrix.toarray(), [[1, 0], [0, 2]])


def test_a_column_of_a_table_or_a_vector(tmp_path):
    (tmp_path / "y.csv").write_text("name,n\nähnlich,1\n,2\n")
    np.save(tmp_path / "y.npy", np.array([1.0, np.nan]))
    assert read_column(DataFile(tmp_path / "y.csv", "name")).to_list() == ["ähnlich", None]
    assert read_column(DataFile(tmp_path / "y.csv", "n")).to_list() == [1, 2]
    assert read_column(DataFile(tmp_path / "y.npy")).to_list() == [1.0, None]


@pytest.mark.parametrize(
    ("text", "file", "column"),
    [
        ("y.csv:label", "y.csv", "label"),
        ("a/y.tsv.gz:der Name", "a/y.tsv.gz", "der Name"),
        ("y.npy", "y.npy", None),
        ("mine.npz:y", "mine.npz", "y"),
        ("mine.npz", "mine.npz", None),
        ("C:y.npy", "C:y.npy", None),
        ("y.csv", "y.csv", None),
    ],
)
def test_a_file_or_a_column_of_a_table(text, file, column, tmp_path):
    assert DataFile.parse(text, tmp_path) == DataFile(tmp_path / file, column)


def test_vectors_and_columns_that_are_none_are_refused(tmp_path):
    np.save(tmp_path / "square.npy", np.ones((2, 2)))
    (tmp_path / "y.csv").write_text("label\n1\n")
    with pytest.raises(DataError, match="one axis"):
        read_column(DataFile(tmp_path / "square.npy"))
    with pytest.raises(DataError, match="for a column of a table, write path:column"):
        read_column(DataFile(tmp_path / "y.csv"))
    with pytest.raises(DataError, match="did you mean 'label'"):
        read_column(DataFile(tmp_path / "y.csv", "lable"))


def test_a_bad_number_is_shown_in_one_short_line(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,x" + "y" * 5000 + "\n")
    with pytest.raises(DataError) as caught:
        read_matrix(tmp_path / "x.csv")
    assert "row 2 of column 'b' holds 'xyyy" in str(caught.value)
    assert len(str(caught.value)) < len(str(tmp_path)) + 120


def test_a_matrix_or_labels_with_ragged_rows_are_refused(tmp_path):
    # The rows of the one would no longer be those of the other.
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4,5\n6,7\n")
    said = r"x.csv: 1 rows have too many or too few cells \(line 3\); fix them$"
    with pytest.raises(DataError, match=said):
        read_matrix(tmp_path / "x.csv")
    with pytest.raises(DataError, match=said):
        read_column(DataFile.parse(f"{tmp_path}/x.csv:a"))


def test_arrays_of_a_numpy_archive(tmp_path):
    path = tmp_path / "mine.npz"
    X, y = np.arange(6.0).reshape(3, 2), np.array(["a", "b", "a"])
    np.savez(path, X=X, y=y)
    assert read_matrix(path, name="X").tolist() == X.tolist()
    assert read_matrix(path, without=["y"]).tolist() == X.tolist()
    assert read_column(DataFile(path, "y")).to_list() == y.tolist()
    with pytest.raises(DataError, match=r"which array\? the file has X, y; write mine\.npz:X for"):
        read_matrix(path)
    with pytest.raises(DataError, match="no array 'z'; the file has X, y"):
        read_column(DataFile(path, "z"))
    with pytest.raises(DataError, match=r"a column must have one axis, got shape \(3, 2\)"):
        read_column(DataFile(path, "X"))
    np.savez_compressed(path, X)
    assert read_matrix(path).tolist() == X.tolist()


def test_pickled_arrays_are_refused(tmp_path):
    np.savez(tmp_path / "mine.npz", y=np.array(["a", 1], dtype=object))
    with pytest.raises(DataError, match="the array 'y' holds Python objects; save num"):
        read_column(DataFile(tmp_path / "mine.npz", "y"))


@pytest.mark.parametrize(
    ("n_columns", "index", "line"),
    [
        (3, 0.5, r"damaged sparse matrix \('indices' must hold integers, not float64\)"),
        (2**40, 0, r"a sparse matrix of 1,099,511,627,776 columns, more than 100,000,000; leave"),
    ],
)
def test_sparse_matrices_that_no_model_can_use_are_refused(tmp_path, n_columns, index, line):
    """Both used to be imported; indices were rounded down."""
    path = tmp_path / "x.npz"
    np.savez(
        path,
        format=b"csr",
        shape=[3, n_columns],
        data=np.ones(3),
        indices=np.full(3, index),
        indptr=np.arange(4),
    )
    with pytest.raises(DataError, match=line):
        read_matrix(path)
