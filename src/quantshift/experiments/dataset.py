"""The items of an experiment: where labels, categories and features come from.

A data set is opened once per process from a small reference that travels to the workers; texts and
matrices stay where they are. Four kinds: a corpus on disk, the embedded synthetic corpus, a matrix
of features, and posteriors of the user's own model.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse, load_npz

from quantshift.classify.posteriors import check_posteriors
from quantshift.corpora import synthetic
from quantshift.corpora.corpus import Corpus
from quantshift.errors import DataError, unknown_name
from quantshift.experiments.spec import DataFile, Experiment
from quantshift.features.counts import CountMatrix, open_counts
from quantshift.features.tfidf import TfidfView
from quantshift.features.view import MatrixView, View
from quantshift.labels import column
from quantshift.types import Posteriors


@dataclass(frozen=True, eq=False)
class Dataset:
    """Items with labels (or stars), perhaps categories, and features or posteriors.

    hash: identifies the content; results of different data do not mix.
    """

    labels: NDArray[Any]
    categories: NDArray[Any] | None
    features: CountMatrix | MatrixView | None
    posteriors: Posteriors | None
    hash: str

    def view(self, rows: ArrayLike) -> View:
        """The features as the training set at `rows` defines them."""
        if isinstance(self.features, CountMatrix):
            return TfidfView.fit(self.features, rows)
        if self.features is None:
            return MatrixView(np.empty((len(self.labels), 0)))
        return self.features


class AbstractSource(ABC):
    """A small, picklable reference to a data set."""

    @abstractmethod
    def open(self) -> Dataset:
        """The data set itself; slow, so go through `open_source`."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What people call it."""


@dataclass(frozen=True)
class CorpusSource(AbstractSource):
    """A tokenised corpus on disk."""

    path: Path

    @property
    def title(self) -> str:
        """The folder's own name: results tell what they are of, not where it lay."""
        return self.path.name

    def open(self) -> Dataset:
        """Stars, category names and memory-mapped term counts."""
        corpus = Corpus.open(self.path)
        return Dataset(
            labels=corpus.stars,
            categories=np.array(corpus.categories)[corpus.category_codes],
            features=open_counts(corpus),
            posteriors=None,
            hash=corpus.hash,
        )


@dataclass(frozen=True)
class SyntheticSource(AbstractSource):
    """The embedded corpus, made anew in every process: always the same."""

    n_documents: int = 20_000
    seed: int = 0

    @property
    def title(self) -> str:
        """Its name and size."""
        return f"synthetic reviews ({self.n_documents:,} documents)"

    def open(self) -> Dataset:
        """Generate it."""
        corpus = synthetic.generate(self.n_documents, seed=self.seed)
        counts = CountMatrix.from_csr(corpus.counts, corpus.vocabulary)
        return Dataset(
            labels=corpus.stars,
            categories=np.array(synthetic.CATEGORY_NAMES)[corpus.categories],
            features=counts,
            posteriors=None,
            hash=_digest(counts.indptr, counts.indices, counts.data, corpus.stars),
        )


@dataclass(frozen=True)
class FileSource(AbstractSource):
    """Arrays in files: features or posteriors, labels, perhaps categories."""

    features: DataFile | None
    posteriors: DataFile | None
    labels: DataFile
    categories: DataFile | None

    @property
    def title(self) -> str:
        """The main file."""
        main = self.features or self.posteriors or self.labels
        return main.path.name

    def open(self) -> Dataset:
        """Read the files and check that they fit together."""
        labels = column(_read_column(self.labels), name=f"labels in {self.labels.path.name}")
        categories = None
        if self.categories:
            categories = column(
                _read_column(self.categories), name=f"categories in {self.categories.path.name}"
            )
        matrix = self._read_matrix(self.features) if self.features else None
        posteriors = None
        if self.posteriors:
            posteriors = check_posteriors(self._read_matrix(self.posteriors), 2)
        for what, found in (
            ("features", matrix),
            ("posteriors", posteriors),
            ("categories", categories),
        ):
            if found is not None and found.shape[0] != len(labels):
                raise DataError(
                    f"{self.title}: {found.shape[0]} rows of {what} but {len(labels)} labels; "
                    "give one row per item in every file"
                )
        return Dataset(
            labels=labels,
            categories=categories,
            features=None if matrix is None else MatrixView(matrix),
            posteriors=posteriors,
            hash=_digest(*_arrays(matrix, posteriors, labels, categories)),
        )

    def _read_matrix(self, file: DataFile) -> Any:
        # One table may hold everything; its label must not become a feature.
        others = [other for other in (self.labels, self.categories) if other is not None]
        return read_matrix(file.path, without=[o.column for o in others if o.path == file.path])


def source_of(
    experiment: Experiment, corpus: Path | None, *, n_documents: int, seed: int
) -> AbstractSource:
    """Where the experiment's items come from: its own files, the corpus, or the synthetic one."""
    labels = experiment.data_file("labels")
    if labels is not None:
        return FileSource(
            features=_absolute(experiment.data_file("features")),
            posteriors=_absolute(experiment.data_file("posteriors")),
            labels=replace(labels, path=labels.path.absolute()),
            categories=_absolute(experiment.data_file("categories")),
        )
    if corpus is not None:
        return CorpusSource(corpus.absolute())
    return SyntheticSource(n_documents, seed)


@cache
def open_source(source: AbstractSource) -> Dataset:
    """The data set, opened once per process."""
    return source.open()


def read_matrix(path: Path, *, without: Sequence[str | None] = ()) -> Any:
    """A matrix of numbers from .npz (SciPy sparse), .npy, .parquet, .csv or .tsv.

    without: columns of the table that are not part of it.
    """
    try:
        if path.suffix == ".npz":
            matrix = csr_array(load_npz(path)).astype(np.float64)
            matrix.sum_duplicates()
            return _finite(matrix, path)
        if path.suffix == ".npy":
            matrix = np.load(path, allow_pickle=False)
        elif path.suffix in (".parquet", ".csv", ".tsv"):
            table = _read_table(path)
            matrix = table.drop([name for name in without if name in table.columns]).to_numpy()
        else:
            raise DataError(
                f"{path}: a matrix is read from .npz (SciPy sparse), .npy, .parquet, .csv or .tsv"
            )
        matrix = np.asarray(matrix, dtype=np.float64)
    except DataError:
        raise
    except Exception as error:  # every reader has its own exceptions for a broken file
        raise DataError(f"{path}: not a matrix of numbers ({error})") from error
    if matrix.ndim != 2:
        raise DataError(f"{path}: a matrix has two axes, this array has shape {matrix.shape}")
    return _finite(matrix, path)


def _finite(matrix: Any, path: Path) -> Any:
    values = matrix.data if issparse(matrix) else matrix
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        first = int(wrong[0, 0])
        row = int(np.searchsorted(matrix.indptr, first, "right")) - 1 if issparse(matrix) else first
        raise DataError(f"{path}: row {row} holds NaN or infinity; drop or fill it")
    return matrix


def _absolute(file: DataFile | None) -> DataFile | None:
    # Workers of a cluster have working directories of their own.
    return None if file is None else replace(file, path=file.path.absolute())


def _read_column(file: DataFile) -> Any:
    if file.column is None:
        try:
            return np.load(file.path, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise DataError(
                f"{file.path}: not a NumPy array ({error}); for a table write path:column"
            ) from error
    table = _read_table(file.path)
    if file.column not in table.columns:
        raise unknown_name(f"column in {file.path}:", file.column, table.columns)
    return table[file.column]


def _read_table(path: Path) -> pl.DataFrame:
    try:
        if path.suffix == ".parquet":
            return pl.read_parquet(path)
        return pl.read_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"{path}: not a table ({error})") from error


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
