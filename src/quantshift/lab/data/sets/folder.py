"""A data set on disk: a folder with a manifest, created by an import.

    DIR/manifest.json      format and version, name, classes, columns used and left out, hashes
    DIR/items.parquet      label, category, "group: NAME" for each group
    DIR/columns.parquet    the features of a table, under their own names
    DIR/texts.parquet      the texts; DIR/counts: their word counts (quantshift.texts.counts)
    DIR/features.npy       a dense matrix; features-{indptr,indices,data}.npy: a sparse one (CSR)
    DIR/posteriors.npy     a column for each of the sorted classes
    DIR/train.npy, DIR/samples.parquet   given samples: name, rows, prevalence
    DIR/test.npy           positions of the items kept for testing, if the items are split

The same input gives the same bytes, and a hash of the content that does not depend on the library
that wrote the files. Large amounts of texts (reviews) are written in blocks; their hash is that of
`BlockDigest`, which a manifest with `streamed` says. A data set exists when its folder has its
final name: everything is written into a sibling folder, flushed to disk and renamed at the end.
"""

import importlib.metadata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from quantshift.base.forks import TABLE_THREADS
from quantshift.base.storage.files import folder_aside, write_errors
from quantshift.base.storage.manifests import FolderKind
from quantshift.errors import DataError
from quantshift.lab.data.sets.content import BlockDigest, Content
from quantshift.lab.data.sets.dataset import Dataset, Features
from quantshift.lab.data.sets.stored_texts import StoredTexts, TextsWriter
from quantshift.lab.shifts.parts.given_items import Given
from quantshift.prevalence.sparse_matrices import checked_sparse
from quantshift.tables.formats.frames import polars_frame
from quantshift.tables.preparation import TableColumns
from quantshift.texts import counts
from quantshift.texts.view import MatrixView

TEXT_BYTES = 1 << 24
"""The bytes of texts that are hashed at once."""

_GROUP = "group: "
_CSR = ("indptr", "indices", "data")
_KEYS = frozenset(
    ("name", "title", "kind", "hash", "items", "unlabelled", "rows", "label", "category")
) | {"classes", "ordinal", "categories", "groups", "notes", "files"}

DATA_SET = FolderKind(
    format="quantshift-dataset",
    version=1,
    noun="data set",
    described="a data set",
    keys=_KEYS,
    absent="{folder} is not a data set: it {reason}; create one with `quantshift data import`",
    cure="import the data again",
)


@dataclass(frozen=True)
class DataFolder:
    """An imported data set on disk, read on demand."""

    path: Path
    manifest: Mapping[str, Any]

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """The data set in the folder; refused unless all its files exist with the right sizes."""
        TABLE_THREADS.use()
        folder = Path(path)
        manifest = DATA_SET.read(folder)
        DATA_SET.check_sizes(folder, manifest)
        return cls(folder, manifest)

    @property
    def name(self) -> str:
        """Its name in results."""
        return str(self.manifest["name"])

    @property
    def title(self) -> str:
        """Its display name."""
        return str(self.manifest["title"])

    @property
    def kind(self) -> str:
        """The kind of the items: text, table, matrix or posteriors."""
        return str(self.manifest["kind"])

    @property
    def hash(self) -> str:
        """SHA-256 of the content."""
        return str(self.manifest["hash"])

    def dataset(self) -> Dataset:
        """The data set; arrays are mapped into memory, so that processes share them."""
        content = self._content(texts=False)
        features = self._features(content)
        dataset = dataset_of(content, self.name, self.title, features, hash_=self.hash)
        return replace(dataset, cut_point=self.manifest.get("cut_point"))

    def verify(self) -> None:
        """Read everything and compare it with the hashes of the manifest."""
        self.verify_files()
        if self._digest() != self.hash:
            raise DATA_SET.damaged(
                f"the manifest in {self.path} was changed (its hash does not match the items)"
            )

    def verify_files(self) -> None:
        """Compare the files with the hashes of the manifest, without parsing them."""
        DATA_SET.check_hashes(self.path, self.manifest)

    @property
    def texts(self) -> StoredTexts:
        """The texts of a data set of that kind."""
        return StoredTexts(self.path, self.hash, int(self.manifest["items"]))

    def _digest(self) -> str:
        if not self.manifest.get("streamed"):
            return self._content(texts=True).digest()
        items = self._frame("items.parquet")
        names = [entry["name"] for entry in self.manifest["categories"]]
        digest = BlockDigest(names)
        try:
            codes = items["category"].cast(pl.Enum(names)).to_physical().to_numpy()
            labels = items["label"].to_numpy()
            for start, texts in self.texts.text_blocks(TEXT_BYTES):
                rows = slice(start, start + len(texts))
                digest.update(codes[rows].astype(np.int16), labels[rows], texts)
        except (OSError, pa.ArrowException, pl.exceptions.PolarsError) as error:
            raise DATA_SET.damaged(f"the reviews in {self.path} cannot be read") from error
        return digest.hexdigest()

    def _content(self, *, texts: bool) -> Content:
        items = self._frame("items.parquet")
        names = [name for name in items.columns if name.startswith(_GROUP)]
        return Content(
            labels=items["label"],
            classes=tuple(entry["name"] for entry in self.manifest["classes"]),
            ordinal=bool(self.manifest["ordinal"]),
            categories=items["category"] if "category" in items.columns else None,
            groups={name.removeprefix(_GROUP): items[name] for name in names},
            columns=self._frame("columns.parquet") if self.kind == "table" else None,
            texts=self._frame("texts.parquet")["text"] if self.kind == "text" and texts else None,
            matrix=self._matrix() if self.kind == "matrix" else None,
            posteriors=self._array("posteriors") if self.kind == "posteriors" else None,
            given=self._given() if "samples.parquet" in self.manifest["files"] else None,
            test=self._array("test") if "test.npy" in self.manifest["files"] else None,
        )

    def _features(self, content: Content) -> Features | None:
        if self.kind == "text":
            return counts.CountMatrix.open(self.path / counts.FOLDER, corpus_hash=self.hash)
        if content.columns is not None:
            return TableColumns.of(content.columns)
        return None if content.matrix is None else MatrixView(content.matrix)

    def _matrix(self) -> Any:
        if "features.npy" in self.manifest["files"]:
            return self._array("features")
        return read_sparse(DATA_SET, self.path, "features", tuple(self.manifest["shape"]))

    def _given(self) -> Given:
        samples = self._frame("samples.parquet")
        return Given(
            train=self._array("train"),
            samples=tuple(rows.to_numpy() for rows in samples["rows"]),
            prevalences=np.array(samples["prevalence"].to_list(), dtype=np.float64),
            names=tuple(samples["name"]),
        )

    def _frame(self, name: str) -> pl.DataFrame:
        try:
            return polars_frame(pq.read_table(self.path / name))
        except (OSError, pa.ArrowException) as error:
            raise DATA_SET.damaged(f"{self.path / name} cannot be read") from error

    def _array(self, name: str) -> NDArray[Any]:
        return DATA_SET.array(self.path / f"{name}.npy")


def dataset_of(
    content: Content, name: str, title: str, features: Features | None, *, hash_: str
) -> Dataset:
    """The content as a data set for experiments."""
    return Dataset(
        name=name,
        title=title,
        labels=_array(content.labels),
        order=_array(pl.Series(content.classes, dtype=content.labels.dtype)),
        ordinal=content.ordinal,
        categories=None if content.categories is None else _array(content.categories),
        groups={group: _array(values) for group, values in content.groups.items()},
        features=features,
        posteriors=content.posteriors,
        given=content.given,
        test=content.test,
        hash=hash_,
    )


def write_folder(
    out: Path,
    content: Content,
    about: Mapping[str, Any],
    *,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> DataFolder:
    """Write the content into the folder `out`, completely or not at all.

    about: the other entries of the manifest. `progress` takes the number of texts counted and the
    total.
    """
    with new_folder(out, overwrite=overwrite) as folder:
        hash_ = content.digest()
        with write_errors(out):
            _write_files(folder.path, content)
        if content.texts is not None:
            folder.count_words(hash_, len(content.texts), progress)
        return folder.commit({**about, "hash": hash_})


@dataclass(frozen=True)
class NewFolder:
    """A data-set folder that is being written, next to its final place."""

    path: Path
    out: Path
    overwrite: bool

    def count_words(
        self, hash_: str, n_texts: int, progress: Callable[[int, int], None] | None
    ) -> None:
        """Count the words of the texts that have been written."""
        counts.tokenise_corpus(StoredTexts(self.path, hash_, n_texts), progress=progress)

    def commit(self, about: Mapping[str, Any]) -> DataFolder:
        """Write the manifest, give the folder its final name and open it."""
        described = {"quantshift": importlib.metadata.version("quantshift"), **about}
        with write_errors(self.out):
            files = sorted(path for path in self.path.rglob("*") if path.is_file())
            DATA_SET.write(self.path, described, files)
        # Checked again: the folder may have been created while the data was written.
        DATA_SET.check_free(self.out, overwrite=self.overwrite)
        DATA_SET.put_in_place(self.path, self.out)
        return DataFolder.open(self.out)


@contextmanager
def new_folder(
    out: Path, *, overwrite: bool = False, inputs: Iterable[str | Path] = ()
) -> Iterator[NewFolder]:
    """A folder to write a data set into; without a `commit`, nothing is left of it."""
    DATA_SET.check_free(out, overwrite=overwrite, inputs=inputs)
    with folder_aside(out) as aside:
        yield NewFolder(aside, out, overwrite)


def write_sparse(folder: Path, name: str, matrix: Any) -> None:
    """Write a sparse matrix (CSR) as NAME-indptr.npy, NAME-indices.npy and NAME-data.npy."""
    for part in _CSR:
        np.save(folder / f"{name}-{part}.npy", getattr(matrix, part))


def read_sparse(kind: FolderKind, folder: Path, name: str, shape: tuple[int, ...]) -> Any:
    """The matrix that `write_sparse` wrote into a folder of this kind."""
    indptr, indices, data = (kind.array(folder / f"{name}-{part}.npy") for part in _CSR)
    try:
        # Checked even if the hashes are right: a forged matrix would read foreign memory.
        return checked_sparse(csr_array((data, indices, indptr), shape=shape), str(folder))
    except (ValueError, TypeError, DataError) as error:
        raise kind.damaged(f"the features in {folder} are not a sparse matrix") from error


def write_items(folder: Path, columns: Mapping[str, pl.Series]) -> None:
    """Write the labels, and the categories and groups, of all items."""
    _write_table(folder / "items.parquet", pl.DataFrame(dict(columns)))


def _write_files(folder: Path, content: Content) -> None:
    columns = {"label": content.labels}
    if content.categories is not None:
        columns["category"] = content.categories
    columns |= {_GROUP + name: values for name, values in content.groups.items()}
    write_items(folder, columns)
    if content.columns is not None:
        _write_table(folder / "columns.parquet", content.columns)
    if content.texts is not None:
        with TextsWriter(folder) as writer:
            writer.write(content.texts.to_arrow().cast(pa.large_string()))
    if issparse(content.matrix):
        write_sparse(folder, "features", content.matrix)
    elif content.matrix_file is not None:
        content.matrix_file.move_to(folder / "features.npy")
    elif content.matrix is not None:
        np.save(folder / "features.npy", content.matrix)
    if content.posteriors is not None:
        np.save(folder / "posteriors.npy", content.posteriors)
    if content.given is not None:
        np.save(folder / "train.npy", content.given.train)
        _write_table(folder / "samples.parquet", _samples_frame(content.given))
    if content.test is not None:
        np.save(folder / "test.npy", content.test)


def _samples_frame(given: Given) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "name": pl.Series(given.names, dtype=pl.String),
            "rows": pl.Series(list(given.samples), dtype=pl.List(pl.Int64)),
            "prevalence": pl.Series(given.prevalences.tolist(), dtype=pl.List(pl.Float64)),
        }
    )


def _write_table(path: Path, frame: pl.DataFrame) -> None:
    # Dictionaries pay off for words and labels, which repeat; floats hardly do.
    names = [name for name, kind in frame.schema.items() if not kind.is_float()]
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    pq.write_table(table, path, compression="zstd", use_dictionary=names)


def _array(values: pl.Series) -> NDArray[Any]:
    """Labels or categories as a NumPy array; if some are missing, of objects with None for them."""
    if values.null_count():
        return np.array(values.to_list(), dtype=object)
    if values.dtype == pl.String:
        # By level, because millions of Python strings would need many times the memory.
        levels = values.unique().to_list()
        codes = values.cast(pl.Enum(levels)).to_physical().to_numpy()
        return np.asarray(np.array(levels, dtype=np.str_)[codes])
    return values.to_numpy()
