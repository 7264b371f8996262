"""Matrices in files: as NumPy would have saved them, moved or gone."""

import gc
import subprocess
import sys

import numpy as np
import pytest

from quantshift.base.storage.files import this_host
from quantshift.lab.data.importing.arrays import plain_numbers
from quantshift.lab.data.sets.matrix_file import MatrixFile


def test_the_file_is_the_one_that_numpy_saves(tmp_path):
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(n, 7)) for n in (3, 0, 5)]
    file = MatrixFile(tmp_path, iter(parts), 7)
    mapped = file.mapped()
    np.testing.assert_array_equal(mapped, np.concatenate(parts))
    file.move_to(tmp_path / "moved.npy")
    np.save(tmp_path / "saved.npy", np.concatenate(parts))
    assert (tmp_path / "moved.npy").read_bytes() == (tmp_path / "saved.npy").read_bytes()
    del file
    gc.collect()
    np.testing.assert_array_equal(mapped, np.concatenate(parts))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["moved.npy", "saved.npy"]


def test_to_another_disk_it_is_copied(tmp_path, monkeypatch):
    def other_disk(source, target):
        raise OSError("cross-device link")

    file = MatrixFile(tmp_path, [np.eye(2)], 2)
    monkeypatch.setattr("quantshift.lab.data.sets.matrix_file.os.replace", other_disk)
    file.move_to(tmp_path / "there.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "there.npy"), np.eye(2))
    del file
    gc.collect()
    assert [path.name for path in tmp_path.iterdir()] == ["there.npy"]


def test_a_file_that_is_not_moved_is_deleted(tmp_path):
    def parts():
        yield np.eye(3)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        MatrixFile(tmp_path, parts(), 3)
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_import_left_is_removed(tmp_path):
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], stdout=-1)
    left = tmp_path / f".tmp-{int(done.stdout)}-0123abcd-{this_host()}"
    left.write_bytes(b"x")
    file = MatrixFile(tmp_path, [np.eye(2)], 2)
    assert list(tmp_path.iterdir()) == [file.path]


def test_plain_numbers_are_what_a_float_of_each_cell_is(tmp_path):
    rng = np.random.default_rng(1)
    cells = [[repr(x) for x in row] for row in (rng.normal(size=(50, 3)) * 1e-5).tolist()]
    cells += [["1", "-2", "3e-5"], ["0.1", "1e300", "-0.0"]]
    path = tmp_path / "s.txt"
    path.write_text("a,b,c\n" + "".join(",".join(row) + "\n" for row in cells))
    matrix = plain_numbers(path, ("a", "b", "c"))
    np.testing.assert_array_equal(matrix, [[float(cell) for cell in row] for row in cells])


@pytest.mark.parametrize(
    "text",
    [
        "b,a\n1,2\n",  # another order
        "a,b,c\n1,2,3\n",  # one more column
        "a,b\n1,\n",  # a gap
        "a,b\n1\n",  # too few cells
        "a,b\n1,2,3\n",  # too many
        "a,b\n1,x\n",
        "a,b\n1,nan\n",
        "a,b\n1,inf\n",
        "",
    ],
)
def test_anything_unusual_is_left_to_the_reader_with_all_checks(text, tmp_path):
    path = tmp_path / "s.txt"
    path.write_text(text)
    assert plain_numbers(path, ("a", "b")) is None
