"""The folder: whole or not at all, the same bytes, damage named, nothing replaced unasked."""

import json
import shutil

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array, save_npz

from quantshift.base.storage.integrity import checksum, sealed
from quantshift.base.storage.manifests import MANIFEST
from quantshift.errors import DataError, UserError
from quantshift.lab.data import DataFile, DataFolder, ImportOptions, import_arrays, import_table

KINDS = ["table", "text", "matrix", "posteriors", "given"]


def make(kind, folder, out, **options):
    """A data set of a kind, from files in `folder`."""
    folder.mkdir(exist_ok=True)
    labels = ["a", "b", "a", "b"] * 3
    if kind in ("table", "text", "given"):
        table = pl.DataFrame({"x": [1.5, None] * 6, "t": ["ein Wort", "zwei"] * 6, "y": labels})
        table.write_csv(folder / "t.csv")
        if kind == "given":
            (folder / "s.csv").write_text("sample,row\nu,0\nu,1\nv,3\n")
            options["samples"] = folder / "s.csv"
        text = "t" if kind == "text" else None
        return import_table(
            folder / "t.csv", out, label="y", text=text, options=ImportOptions(**options)
        )
    np.save(folder / "y.npy", np.array(labels))
    np.save(folder / "p.npy", np.array([[0.25, 0.75], [0.5, 0.5]] * 6))
    key = "features" if kind == "matrix" else "posteriors"
    arrays = {key: folder / "p.npy", "labels": DataFile(folder / "y.npy")}
    return import_arrays(out, **arrays, options=ImportOptions(**options))


def content(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_input_gives_the_same_bytes(kind, tmp_path):
    first = make(kind, tmp_path / "in", tmp_path / "a", name="one")
    second = make(kind, tmp_path / "in", tmp_path / "b", name="one")
    assert content(first.path) == content(second.path)
    first.verify()
    assert first.hash == DataFolder.open(tmp_path / "b").hash
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "in"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_changed_file_is_found(kind, tmp_path):
    data = make(kind, tmp_path / "in", tmp_path / "d")
    for name in data.manifest["files"]:
        whole = (data.path / name).read_bytes()
        changed = bytearray(whole)
        changed[len(changed) // 2] ^= 1
        (data.path / name).write_bytes(changed)
        with pytest.raises(DataError, match="does not match its manifest"):
            DataFolder.open(data.path).verify()
        (data.path / name).write_bytes(whole[:-1])
        with pytest.raises(DataError, match=r"has .* bytes instead of"):
            DataFolder.open(data.path)
        (data.path / name).unlink()
        with pytest.raises(DataError, match="is missing"):
            DataFolder.open(data.path)
        (data.path / name).write_bytes(whole)
    DataFolder.open(data.path).verify()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hash": "0" * 64}, "was changed"),
        ({"classes": [{"name": "b", "items": 6}, {"name": "a", "items": 6}]}, "was changed"),
        ({"ordinal": True}, "was changed"),
    ],
)
def test_an_altered_manifest_is_found(change, message, tmp_path):
    data = make("table", tmp_path / "in", tmp_path / "d")
    (data.path / MANIFEST).write_text(json.dumps(sealed({**data.manifest, **change})))
    with pytest.raises(DataError, match=message):
        DataFolder.open(data.path).verify()


@pytest.mark.parametrize("column", [-1, 2, 50_000_000])
def test_a_forged_sparse_matrix_is_refused(column, tmp_path):
    """An experiment ran on memory that was not its own: only `verify` compared the content."""
    save_npz(tmp_path / "x.npz", csr_array(np.eye(12, 2) + 1))
    np.save(tmp_path / "y.npy", np.array(["a", "b"] * 6))
    labels = DataFile(tmp_path / "y.npy")
    data = import_arrays(tmp_path / "d", features=tmp_path / "x.npz", labels=labels)
    path = data.path / "features-indices.npy"
    indices = np.load(path)
    indices[3] = column
    np.save(path, indices)
    files = {**data.manifest["files"], path.name: {"bytes": path.stat().st_size}}
    files[path.name]["sha256"] = checksum(path.read_bytes())
    (data.path / MANIFEST).write_text(json.dumps(sealed({**data.manifest, "files": files})))
    forged = DataFolder.open(data.path)
    forged.verify_files()  # The hashes are right.
    with pytest.raises(DataError, match="not a sparse matrix; import the data again"):
        forged.dataset()


def test_every_bit_of_a_manifest_counts(tmp_path):
    """Flips in counts and versions were not noticed."""
    path = make("table", tmp_path / "in", tmp_path / "d").path / MANIFEST
    whole = path.read_bytes()
    expected = json.loads(whole)
    for position in range(0, len(whole), 7):
        changed = bytearray(whole)
        changed[position] ^= 1
        path.write_bytes(changed)
        try:
            manifest = dict(DataFolder.open(path.parent).manifest)
        except DataError:
            continue
        assert sealed(manifest) == expected, position


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "does not describe a data set"),
        ('{"format": "another"}', "does not describe a data set"),
        ('{"format": "quantshift-dataset", "version": 2}', "upgrade quantshift"),
        ('{"format": "quantshift-dataset", "version": 0}', "upgrade quantshift"),
        ('{"format": "quantshift-dataset", "version": 1}', "lacks .*hash"),
    ],
)
def test_a_manifest_that_is_none_is_refused(text, message, tmp_path):
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(DataError, match=message):
        DataFolder.open(tmp_path)


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"it has no manifest\.json"):
        DataFolder.open(tmp_path)
    with pytest.raises(DataError, match="it does not exist"):
        DataFolder.open(tmp_path / "nowhere")


def test_an_older_data_set_is_replaced_only_when_asked(tmp_path):
    make("table", tmp_path / "in", tmp_path / "d")
    before = content(tmp_path / "d")
    with pytest.raises(UserError, match="already holds a data set"):
        make("matrix", tmp_path / "in", tmp_path / "d")
    assert content(tmp_path / "d") == before
    replaced = make("matrix", tmp_path / "in", tmp_path / "d", overwrite=True)
    assert replaced.kind == "matrix"
    assert "columns.parquet" not in content(tmp_path / "d")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d", "in"]


def test_a_folder_of_something_else_is_never_replaced(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "thesis.txt").write_text("all of it")
    with pytest.raises(UserError, match="exists and is not a data set"):
        make("table", tmp_path / "in", tmp_path / "d", overwrite=True)
    assert content(tmp_path / "d") == {"thesis.txt": b"all of it"}


def test_an_interrupted_import_leaves_nothing_and_the_old_one_in_place(tmp_path, monkeypatch):
    make("text", tmp_path / "in", tmp_path / "d")
    before = content(tmp_path / "d")

    def broken(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("quantshift.texts.counts.tokenise_corpus", broken)
    with pytest.raises(KeyboardInterrupt):
        make("text", tmp_path / "in", tmp_path / "d", overwrite=True)
    assert content(tmp_path / "d") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d", "in"]


def test_a_data_set_may_be_moved_and_keeps_its_name(tmp_path):
    data = make("text", tmp_path / "in", tmp_path / "d")
    shutil.move(tmp_path / "d", tmp_path / "elsewhere")
    moved = DataFolder.open(tmp_path / "elsewhere")
    assert (moved.name, moved.hash) == ("d", data.hash)
    assert moved.dataset().features.shape == (12, 3)


def test_the_hash_is_of_the_content_alone(tmp_path):
    first = make("table", tmp_path / "in", tmp_path / "a")
    renamed = make("table", tmp_path / "in", tmp_path / "b", name="x", title="Another")
    swapped = make("table", tmp_path / "in", tmp_path / "c", positive="a")
    assert first.hash == renamed.hash
    assert (renamed.name, renamed.title) == ("x", "Another")
    assert first.hash != swapped.hash
    assert len({make(kind, tmp_path / "in", tmp_path / kind).hash for kind in KINDS}) == len(KINDS)
