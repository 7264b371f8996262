"""Images in IDX files: what is read, what keeps its place, and what is refused."""

import gzip
import struct

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from quantshift.data import ImportOptions, describe, import_idx, render
from quantshift.data.importing.idx import is_idx, read_idx
from quantshift.errors import DataError, UserError

NAMES = {
    ("train", "images"): "train-images-idx3-ubyte",
    ("train", "labels"): "train-labels-idx1-ubyte",
    ("test", "images"): "t10k-images-idx3-ubyte",
    ("test", "labels"): "t10k-labels-idx1-ubyte",
}


def idx(array):
    """The bytes of an IDX file, as the format is described."""
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return header + array.astype(np.uint8).tobytes()


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    made = {}
    for part, n in {"train": 30, "test": 12}.items():
        made[part, "images"] = rng.integers(0, 256, (n, 3, 2))
        made[part, "labels"] = np.arange(n) % 3
    return made


def write(folder, arrays, *, packed=False):
    folder.mkdir(exist_ok=True)
    for role, array in arrays.items():
        content = idx(array)
        name = NAMES[role] + (".gz" if packed else "")
        (folder / name).write_bytes(gzip.compress(content) if packed else content)
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_pixels_labels_and_the_split_are_those_of_the_files(packed, arrays, tmp_path):
    folder = write(tmp_path / "shirts", arrays, packed=packed)
    assert is_idx(folder)
    data = import_idx(folder, tmp_path / "d", class_names=["tee", "coat", "bag"])
    data.verify()
    dataset = data.dataset()
    assert data.title == "shirts"
    assert dataset.classes.tolist() == [0, 1, 2]
    assert_array_equal(dataset.test, np.arange(30, 42))
    pixels = np.concatenate([arrays["train", "images"], arrays["test", "images"]]).reshape(42, 6)
    assert_array_equal(dataset.features.matrix, pixels / 255)
    assert_array_equal(dataset.labels, [*arrays["train", "labels"], *arrays["test", "labels"]])
    assert data.manifest["image_shape"] == [3, 2]
    assert "| 1 (coat) |" in render(describe(data), "markdown")


def test_the_given_split_outlasts_a_class_that_is_left_out(arrays, tmp_path):
    arrays["train", "labels"][:5] = 9
    data = import_idx(
        write(tmp_path / "f", arrays), tmp_path / "d", options=ImportOptions(fewest=6)
    )
    assert data.manifest["split"] == {"train": 25, "test": 12}
    assert_array_equal(data.dataset().labels[data.dataset().test], arrays["test", "labels"])


def test_a_file_beside_its_compressed_copy_and_other_spellings_are_understood(arrays, tmp_path):
    folder = write(write(tmp_path / "f", arrays), arrays, packed=True)
    for path in list(folder.iterdir()):
        path.rename(folder / path.name.replace("-idx", ".idx").replace("t10k", "test"))
    (folder / "README").write_text("of the data")
    assert len(import_idx(folder, tmp_path / "d").dataset()) == 42


def damaged(folder, role, change):
    path = folder / NAMES[role]
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    ("role", "change", "message"),
    [
        (("train", "images"), lambda b: b[:-7], "ends 7 bytes too early; fetch it again"),
        (("test", "labels"), lambda b: b + b"x", "is longer than its header says"),
        (("train", "labels"), lambda b: b"", "not an IDX file"),
        (("train", "labels"), lambda b: b"PK" + b[2:], "not an IDX file"),
        (("train", "images"), lambda b: b[:2] + b"\x0d" + b[3:], "type 13 with 3 axes"),
        (("train", "images"), lambda b: b[:3] + b"\x01" + b[4:], "type 8 with 1 axes"),
        (("train", "images"), lambda b: b[:4] + b"\xff" * 12, "bytes too early"),
        (("train", "labels"), lambda b: b[:4] + bytes(4), "the file has no items"),
        (("test", "labels"), lambda b: idx(np.zeros(5)), "12 images, but .* has 5 labels"),
        (("test", "images"), lambda b: idx(np.zeros((12, 2, 2))), "images of 2 x 2 pixels"),
        (("test", "labels"), None, "no test labels; add t10k-labels-idx1-ubyte"),
    ],
)
def test_damaged_and_mismatched_files_are_refused_in_a_line(
    role, change, message, arrays, tmp_path
):
    folder = write(tmp_path / "f", arrays)
    if change is None:
        (folder / NAMES[role]).unlink()
    else:
        damaged(folder, role, change)
    with pytest.raises(DataError, match=message) as error:
        import_idx(folder, tmp_path / "d")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("cut", [5, 25, 60])
def test_damaged_compressed_files_are_refused(cut, arrays, tmp_path):
    path = tmp_path / "train-images-idx3-ubyte.gz"
    content = bytearray(gzip.compress(idx(arrays["train", "images"])))
    path.write_bytes(bytes(content[:cut]))
    with pytest.raises(DataError, match=r"cannot be read .*; fetch the file again"):
        read_idx(path, n_axes=3)
    content[cut] ^= 255
    path.write_bytes(bytes(content))
    if cut > 10:  # before that, the bytes are a time and flags
        with pytest.raises(DataError):
            read_idx(path, n_axes=3)


def test_two_data_sets_in_a_folder_are_refused(arrays, tmp_path):
    folder = write(tmp_path / "f", arrays)
    (folder / "letters-train-images-idx3-ubyte").write_bytes(idx(arrays["train", "images"]))
    with pytest.raises(DataError, match="both hold the train images"):
        import_idx(folder, tmp_path / "d")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"class_names": ["a", "b"]}, "2 names of classes for the labels 0, 1, 2"),
        ({"class_names": ["a", "b", "b"]}, "two classes have one name"),
        ({"options": ImportOptions(test_share=0.3)}, "the files are split"),
    ],
)
def test_contradictory_settings_are_refused(arguments, message, arrays, tmp_path):
    with pytest.raises(UserError, match=message):
        import_idx(write(tmp_path / "f", arrays), tmp_path / "d", **arguments)
