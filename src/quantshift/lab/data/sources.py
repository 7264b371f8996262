"""Sources of data sets: small references that are sent to the workers instead of the data.

A data set is opened once per process. There are five kinds of sources: the embedded synthetic
corpus, an embedded data set, one in the files of another package, arrays in files, and a folder
made by `quantshift data import`.
"""

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from quantshift.base.storage.manifests import manifest_format
from quantshift.base.types import Posteriors
from quantshift.classify.posteriors import check_posteriors
from quantshift.errors import DataError, UserError
from quantshift.lab.data.embedded import synthetic
from quantshift.lab.data.embedded.embedded import EMBEDDED, embedded_set
from quantshift.lab.data.importing.arrays import DataFile, read_column, read_matrix, read_vector
from quantshift.lab.data.packaged.label_tables import LABEL_TABLES
from quantshift.lab.data.packaged.packaged import PACKAGED, packaged_set
from quantshift.lab.data.sets.content import Content
from quantshift.lab.data.sets.dataset import STARS_CUT, Dataset
from quantshift.lab.data.sets.folder import DATA_SET, DataFolder, dataset_of
from quantshift.prevalence.labels import column
from quantshift.tables.columns.names import folder_name
from quantshift.tables.preparation import TableColumns
from quantshift.texts.counts import CountMatrix
from quantshift.texts.view import MatrixView

"""The format of reviews on disk before they became data sets."""


class AbstractSource(ABC):
    """A small, picklable reference to a data set."""

    @abstractmethod
    def open(self) -> Dataset:
        """The data set itself; slow, so use `open_source`."""

    @abstractmethod
    def verify(self) -> None:
        """Refuse data that has changed since it was written, if a manifest has its hashes."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The data set's name in results, valid as a folder name."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Its display name."""


@dataclass(frozen=True)
class SyntheticSource(AbstractSource):
    """The embedded corpus, generated in every process and always the same."""

    n_documents: int = 20_000
    seed: int = 0

    @property
    def name(self) -> str:
        """The same name for all sizes."""
        return "synthetic"

    @property
    def title(self) -> str:
        """Its name and size."""
        return f"synthetic reviews ({self.n_documents:,} documents)"

    def open(self) -> Dataset:
        """Generate the corpus."""
        corpus = synthetic.generate(self.n_documents, seed=self.seed)
        counts = CountMatrix.from_csr(corpus.counts, corpus.vocabulary)
        return Dataset(
            name=self.name,
            title=self.title,
            labels=corpus.stars,
            ordinal=True,
            cut_point=STARS_CUT,
            categories=np.array(synthetic.CATEGORY_NAMES)[corpus.categories],
            features=counts,
            hash=_digest(counts.indptr, counts.indices, counts.data, corpus.stars),
        )

    def verify(self) -> None:
        """Nothing of it is on disk."""


@dataclass(frozen=True)
class AbstractNamedSource(AbstractSource):
    """A data set that is identified by its name alone."""

    set_name: str

    @property
    def name(self) -> str:
        """Its plain name."""
        return self.set_name

    @property
    def title(self) -> str:
        """Its plain name."""
        return self.set_name


@dataclass(frozen=True)
class EmbeddedSource(AbstractNamedSource):
    """An embedded data set by name, created in every process and always the same."""

    def __post_init__(self) -> None:
        embedded_set(self.set_name)

    def open(self) -> Dataset:
        """Create the data set."""
        return _of_table(self.set_name, embedded_set(self.set_name).make())

    def verify(self) -> None:
        """Nothing of it is on disk."""


@dataclass(frozen=True)
class PackagedSource(AbstractNamedSource):
    """A data set in the files of another package, by name; read in every process."""

    def __post_init__(self) -> None:
        packaged_set(self.set_name)

    def open(self) -> Dataset:
        """Read the files; the error of a missing package says what to install."""
        return _of_table(self.set_name, packaged_set(self.set_name).make())

    def verify(self) -> None:
        """Its files are those of the other package: results record the hash of what was read."""


@dataclass(frozen=True)
class FileSource(AbstractSource):
    """Arrays in files: features or posteriors, labels, perhaps categories."""

    features: DataFile | None
    posteriors: DataFile | None
    labels: DataFile
    categories: DataFile | None

    @property
    def name(self) -> str:
        """The stem of the main file, without invalid characters."""
        return folder_name(self._main.path.name.split(".")[0])

    @property
    def title(self) -> str:
        """The main file."""
        return self._main.path.name

    def open(self) -> Dataset:
        """Read the files and check that they match."""
        labels = _values(self.labels, "labels")
        categories = _values(self.categories, "categories") if self.categories else None
        matrix = self._read_matrix(self.features) if self.features else None
        posteriors = self._read_posteriors(self.posteriors, labels) if self.posteriors else None
        for kind, rows in (
            ("features", matrix),
            ("posteriors", posteriors),
            ("categories", categories),
        ):
            if rows is not None and rows.shape[0] != len(labels):
                raise DataError(
                    f"{self.title}: {rows.shape[0]} rows of {kind} but {len(labels)} labels; "
                    "give one row per item in every file"
                )
        return Dataset(
            name=self.name,
            title=self.title,
            labels=labels,
            ordinal=labels.dtype.kind in "iuf",
            categories=categories,
            features=None if matrix is None else MatrixView(matrix),
            posteriors=posteriors,
            hash=_digest(*_arrays(matrix, posteriors, labels, categories)),
        )

    def verify(self) -> None:
        """The user's own files have no manifest: the results record what was in them."""

    @property
    def _main(self) -> DataFile:
        return self.features or self.posteriors or self.labels

    def _read_matrix(self, file: DataFile) -> Any:
        # One table may hold everything; its labels must not become features.
        others = [other for other in (self.labels, self.categories) if other is not None]
        without = [other.column for other in others if other.path == file.path]
        return read_matrix(file.path, name=file.column, without=without)

    def _read_posteriors(self, file: DataFile, labels: NDArray[Any]) -> Posteriors:
        posteriors = check_posteriors(self._read_matrix(file))
        # Two columns may belong to ordered labels that an experiment cuts into two classes.
        n_columns, n_classes = posteriors.shape[1], len(np.unique(labels))
        return posteriors if n_columns == 2 else check_posteriors(posteriors, n_classes)


@dataclass(frozen=True)
class FolderSource(AbstractSource):
    """A data-set folder made by `quantshift data import`."""

    path: Path

    @property
    def name(self) -> str:
        """As it was imported."""
        return DataFolder.open(self.path).name

    @property
    def title(self) -> str:
        """As it was imported."""
        return DataFolder.open(self.path).title

    def open(self) -> Dataset:
        """The data; arrays are memory-mapped."""
        return DataFolder.open(self.path).dataset()

    def verify(self) -> None:
        """Compare the files with their hashes."""
        DataFolder.open(self.path).verify_files()


@cache
def open_source(source: AbstractSource) -> Dataset:
    """The data set, opened once per process."""
    return source.open()


def source_at(path: str | Path, folder: Path = Path()) -> AbstractSource:
    """The source of this name: an embedded or packaged data set, or an imported one in a folder.

    Paths are relative to `folder`. A string that names an embedded data set, or one of another
    package, means that one; for a folder of the same name write "./" before it, or give a `Path`.
    """
    if isinstance(path, str) and path in EMBEDDED:
        if (folder / path).exists():
            raise UserError(
                f"{path!r} is both an embedded data set and a folder; write './{path}' for the "
                "folder, or rename it"
            )
        return EmbeddedSource(path)
    # A folder wins over a packaged data set, whose name may be newer than the folder.
    if isinstance(path, str) and path in PACKAGED and not (folder / path).exists():
        return PackagedSource(path)
    if isinstance(path, str) and path in LABEL_TABLES and not (folder / path).exists():
        raise DataError(
            f"{path} has several labels per item, so it is for the suite multilabel: "
            f"`quantshift bench multilabel --data {path}`"
        )
    target = (folder / path).absolute()
    kind = manifest_format(target)
    if kind == DATA_SET.format:
        return FolderSource(target)
    if target.is_file():
        raise DataError(
            f"{path} is a file; import it with `quantshift data import`, then give the folder of "
            "the data set"
        )
    state = "does not exist" if not target.exists() else "is not a data set"
    raise DataError(
        f"{target if folder != Path() else path} {state}; create one with `quantshift data "
        "import`; `quantshift data list` shows the embedded ones and those of other packages"
    )


def _of_table(name: str, content: Content) -> Dataset:
    assert content.columns is not None
    features = TableColumns.of(content.columns)
    return dataset_of(content, name, name, features, hash_=content.digest())


def _values(file: DataFile, kind: str) -> NDArray[Any]:
    values = read_vector(file.path) if file.column is None else read_column(file)
    return column(values, name=f"{kind} in {file.path.name}")


def _arrays(*parts: Any) -> list[NDArray[Any]]:
    arrays: list[NDArray[Any]] = []
    for part in parts:
        if issparse(part):
            arrays += [part.indptr, part.indices, part.data]
        elif part is not None:
            arrays.append(part)
    return arrays


def _digest(*arrays: NDArray[Any]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
