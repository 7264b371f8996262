"""A part: the rows of the methods computed in one pass over a cell, and the marker beside them.

    <part>.parquet    the rows; the same rows give the same bytes
    <part>.json       size and SHA-256 of the Parquet file, rows, methods with their signatures

The part's name is a hash of the methods in it. A part exists when its marker does: the marker is
written last and removed first.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from quantshift.errors import DataError
from quantshift.files import flush, write_whole
from quantshift.results.schema import ARROW_SCHEMA, CONTINUOUS, SCHEMA, SCHEMA_VERSION

REDO = "run the same command again; it will be redone"
UPGRADE = "upgrade quantshift to read it"

_NAME = re.compile(r"[0-9a-f]{12}")

Kind: TypeAlias = Literal[
    "marker", "version", "missing", "truncated", "altered", "rows", "stale", "failure"
]


@dataclass(frozen=True)
class Problem:
    """Something wrong with one file of a store."""

    kind: Kind
    path: Path
    detail: str

    @property
    def cure(self) -> str:
        """What to do about it."""
        return REDO if self.repairable else UPGRADE

    @property
    def repairable(self) -> bool:
        """Whether removing it is the cure; what a newer version wrote is not ours to remove."""
        return self.kind != "version"

    def __str__(self) -> str:
        return f"{self.path} {self.detail}; {self.cure}"


@dataclass(frozen=True)
class Part:
    """What a marker says."""

    folder: Path
    methods: Mapping[str, str]
    rows: int
    n_bytes: int
    sha256: str

    @property
    def name(self) -> str:
        """Twelve hexadecimal digits."""
        return part_name(self.methods)

    @property
    def data(self) -> Path:
        """The Parquet file."""
        return self.folder / f"{self.name}.parquet"

    @property
    def marker(self) -> Path:
        """The file that vouches for it."""
        return self.folder / f"{self.name}.json"


class DamagedPartError(DataError):
    """A part that must not be used; `problem` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"damaged results: {problem}")
        self.problem = problem


def part_name(methods: Mapping[str, str]) -> str:
    """The name of a part with these methods (name -> signature), whatever their order."""
    pairs = json.dumps(sorted(methods.items()))
    return hashlib.sha256(pairs.encode()).hexdigest()[:12]


def is_marker(path: Path) -> bool:
    """Whether this is the name of a marker."""
    return path.suffix == ".json" and _NAME.fullmatch(path.stem) is not None


def is_data(path: Path) -> bool:
    """Whether this is the name of a part's Parquet file."""
    return path.suffix == ".parquet" and _NAME.fullmatch(path.stem) is not None


def encode(rows: pl.DataFrame) -> bytes:
    """The rows as the bytes of a Parquet file: no timestamps, every option of the writer fixed."""
    sink = pa.BufferOutputStream()
    pq.write_table(
        # Combined: the chunks of a frame depend on how it was put together, the bytes must not.
        rows.to_arrow().cast(ARROW_SCHEMA).combine_chunks(),
        sink,
        row_group_size=max(1, len(rows)),
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        compression_level=1,
        use_dictionary=[name for name in SCHEMA if name not in CONTINUOUS],
        use_byte_stream_split=list(CONTINUOUS),
        write_statistics=True,
    )
    return bytes(sink.getvalue().to_pybytes())


def write_part(folder: Path, methods: Mapping[str, str], rows: pl.DataFrame) -> Part:
    """Write rows that conform to the schema, then their marker. The folder is locked."""
    content = encode(rows)
    part = Part(
        folder=folder,
        methods=dict(sorted(methods.items())),
        rows=len(rows),
        n_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    record = {
        "schema": SCHEMA_VERSION,
        "rows": part.rows,
        "bytes": part.n_bytes,
        "sha256": part.sha256,
        "methods": part.methods,
    }
    marker = (json.dumps(record, indent=2) + "\n").encode()
    # An older marker must not vouch for other bytes, not even between two renames.
    if part.marker.exists() and part.marker.read_bytes() != marker:
        part.marker.unlink()
        flush(folder)
    write_whole(part.data, content)
    write_whole(part.marker, marker)
    flush(folder)
    return part


def remove_part(marker: Path) -> None:
    """Remove a part, its marker first. The folder is locked."""
    marker.unlink(missing_ok=True)
    flush(marker.parent)
    marker.with_suffix(".parquet").unlink(missing_ok=True)


def load_part(marker: Path) -> Part:
    """The part of a marker, with its data there in full size; the content is not read."""
    part = _parse(marker)
    if not part.data.is_file():
        raise DamagedPartError(Problem("missing", part.data, "is missing, its marker is there"))
    found = part.data.stat().st_size
    if found != part.n_bytes:
        detail = f"has {found} bytes instead of {part.n_bytes}"
        raise DamagedPartError(Problem("truncated", part.data, detail))
    return part


def read_bytes(part: Part) -> bytes:
    """The Parquet file's bytes, compared with the marker's hash."""
    content = part.data.read_bytes()
    if hashlib.sha256(content).hexdigest() != part.sha256:
        detail = "is not what was written (its SHA-256 differs from the marker's)"
        raise DamagedPartError(Problem("altered", part.data, detail))
    return content


def read_rows(part: Part) -> pl.DataFrame:
    """The rows of the part, compared with all the marker says of them."""
    content = read_bytes(part)
    try:
        rows = pl.read_parquet(content)
    except pl.exceptions.PolarsError as error:
        problem = Problem("rows", part.data, "cannot be read as Parquet")
        raise DamagedPartError(problem) from error
    cell = {"experiment": part.folder.parent.name, "cell": part.folder.name}
    checks = {
        "does not have the columns of the schema": rows.schema == SCHEMA,
        f"has {len(rows)} rows instead of {part.rows}": len(rows) == part.rows,
    }
    if rows.schema == SCHEMA:
        checks |= {
            "has other methods than its marker": set(rows["method"].unique()) == set(part.methods),
            "has rows of another cell": all(set(rows[k].unique()) == {v} for k, v in cell.items()),
        }
    for detail, holds in checks.items():
        if not holds:
            raise DamagedPartError(Problem("rows", part.data, detail))
    return rows


def _parse(marker: Path) -> Part:
    try:
        record: Any = json.loads(marker.read_bytes())
        version = record["schema"]
        if version == SCHEMA_VERSION:
            part = Part(
                folder=marker.parent,
                methods=record["methods"],
                rows=record["rows"],
                n_bytes=record["bytes"],
                sha256=record["sha256"],
            )
            if part.name == marker.stem:
                return part
    except (ValueError, TypeError, KeyError, AttributeError):
        version = None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        detail = f"has result schema {version}, this is {SCHEMA_VERSION}"
        raise DamagedPartError(Problem("version", marker, detail))
    raise DamagedPartError(Problem("marker", marker, "is no readable marker"))
