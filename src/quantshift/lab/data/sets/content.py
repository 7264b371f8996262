"""The content of a data-set folder in memory: columns, texts or arrays, and their hash."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import issparse

from quantshift.base.types import Indices, Posteriors
from quantshift.lab.data.sets.matrix_file import MatrixFile
from quantshift.lab.shifts.parts.given_items import Given
from quantshift.tables.columns.names import in_order


@dataclass(frozen=True, eq=False, kw_only=True)
class Content:
    """The items of a data set; exactly one of columns, texts, matrix or posteriors is given.

    labels: null for an item without a label. classes: in their order, of the labels' type. test:
    positions of the items kept for testing, if the items are split; all others are for training.
    matrix_file: the file that the matrix is mapped from, if it was written for this data set.
    """

    labels: pl.Series
    classes: tuple[Any, ...]
    ordinal: bool = False
    categories: pl.Series | None = None
    groups: Mapping[str, pl.Series] = field(default_factory=dict)
    columns: pl.DataFrame | None = None
    texts: pl.Series | None = None
    matrix: Any = None
    matrix_file: MatrixFile | None = None
    posteriors: Posteriors | None = None
    given: Given | None = None
    test: Indices | None = None

    @property
    def kind(self) -> str:
        """The kind of the items: text, table, matrix or posteriors."""
        if self.texts is not None:
            return "text"
        if self.columns is not None:
            return "table"
        return "matrix" if self.matrix is not None else "posteriors"

    def described(self) -> dict[str, Any]:
        """The description of the content for a manifest."""
        counts = dict(self.labels.drop_nulls().value_counts().iter_rows())
        described: dict[str, Any] = {
            "classes": [{"name": name, "items": counts[name]} for name in self.classes],
            "ordinal": self.ordinal,
            "categories": None if self.categories is None else _levels(self.categories),
            "groups": {name: _levels(values) for name, values in self.groups.items()},
        }
        if self.matrix is not None:
            described["shape"] = list(self.matrix.shape)
            described["sparse"] = bool(issparse(self.matrix))
        if self.given is not None:
            sizes = [len(rows) for rows in self.given.samples]
            described["given"] = {
                "samples": len(sizes),
                "train": len(self.given.train),
                "smallest": min(sizes),
                "largest": max(sizes),
            }
        if self.test is not None:
            n_test = len(self.test)
            described["split"] = {"train": len(self.labels) - n_test, "test": n_test}
        return described

    def digest(self) -> str:
        """SHA-256 of the content, independent of the files it is written to."""
        hash_ = _Hash()
        hash_.words("classes", json.dumps([self.classes, self.ordinal]))
        hash_.column("label", self.labels)
        if self.categories is not None:
            hash_.column("category", self.categories)
        for name, values in self.groups.items():
            hash_.column(f"group {name}", values)
        for values in [] if self.columns is None else self.columns.get_columns():
            hash_.column(f"column {values.name}", values)
        if self.texts is not None:
            hash_.column("text", self.texts)
        if issparse(self.matrix):
            # A fixed width, because SciPy chooses the width of the indices.
            hash_.array("matrix indptr", self.matrix.indptr.astype(np.int64))
            hash_.array("matrix indices", self.matrix.indices.astype(np.int64))
            hash_.array("matrix data", self.matrix.data)
        elif self.matrix is not None:
            hash_.array("matrix", self.matrix)
        if self.posteriors is not None:
            hash_.array("posteriors", self.posteriors)
        if self.given is not None:
            hash_.array("train", self.given.train)
            hash_.words("samples", json.dumps(self.given.names))
            hash_.array("prevalences", self.given.prevalences)
            for name, rows in zip(self.given.names, self.given.samples, strict=True):
                hash_.array(f"sample {name}", rows)
        if self.test is not None:
            hash_.array("test", self.test)
        return hash_.digest.hexdigest()


@dataclass(frozen=True)
class RowCounts:
    """How many rows of the main file were read and used, and why the others were left out.

    of_samples: rows that the samples' files added.
    """

    read: int
    used: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    of_samples: int = 0


def _levels(values: pl.Series) -> list[dict[str, Any]]:
    counts = dict(values.value_counts().iter_rows())
    return [{"name": name, "items": counts[name]} for name in in_order(counts)]


class BlockDigest:
    """A hash of categories, labels and texts that come in blocks, whatever the blocks.

    Each column has a running hash, so that texts of any amount need not be in memory.
    """

    def __init__(self, categories: Sequence[str]) -> None:
        self._names = json.dumps(list(categories)).encode()
        self._columns = [hashlib.sha256() for _ in range(4)]

    def update(self, codes: NDArray[np.int16], labels: NDArray[np.int8], texts: Any) -> None:
        """Add rows; codes: positions of their categories, texts: an array of large strings."""
        lengths = pc.binary_length(texts).to_numpy(zero_copy_only=False).astype("<i8")
        content = (codes.astype("<i2").tobytes(), labels.tobytes(), lengths.tobytes())
        for column, data in zip(self._columns, (*content, _utf8(texts)), strict=True):
            column.update(data)

    def hexdigest(self) -> str:
        """The hash of all rows."""
        digests = b"".join(column.digest() for column in self._columns)
        return hashlib.sha256(self._names + digests).hexdigest()


class _Hash:
    """A hash over named parts, each preceded by its length."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()

    def words(self, name: str, text: str) -> None:
        for part in (name.encode(), text.encode()):
            self.digest.update(len(part).to_bytes(8, "little") + part)

    def array(self, name: str, array: NDArray[Any]) -> None:
        plain = np.ascontiguousarray(array)
        plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
        self.words(name, f"{plain.dtype.kind}{plain.dtype.itemsize}{plain.shape}")
        self.digest.update(plain.data)

    def column(self, name: str, values: pl.Series) -> None:
        self.array(f"{name}: gaps", values.is_null().to_numpy())
        if values.dtype == pl.String:
            strings = values.fill_null("").to_arrow().cast(pa.large_string())
            self.array(f"{name}: lengths", values.fill_null("").str.len_bytes().to_numpy())
            self.digest.update(_utf8(strings))
        else:
            self.array(
                name, values.fill_null(False if values.dtype == pl.Boolean else 0).to_numpy()
            )


def _utf8(strings: Any) -> memoryview | bytes:
    """The concatenated bytes of all strings, without a copy."""
    _, offsets, data = strings.buffers()
    if data is None or len(strings) == 0:
        return b""
    bounds = np.frombuffer(offsets, np.int64)[strings.offset : strings.offset + len(strings) + 1]
    return memoryview(data)[int(bounds[0]) : int(bounds[-1])]
