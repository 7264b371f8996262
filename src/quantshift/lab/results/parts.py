"""A part: the rows of the methods computed in one pass over a cell, and their marker.

    <part>.parquet    the rows; equal rows give equal bytes
    <part>.json       size and SHA-256 of the Parquet file, rows, methods with their signatures

The part's name is a hash of the methods in it. A part exists when its marker does: the marker is
written last and removed first.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from quantshift.base.storage.files import flush, write_whole
from quantshift.base.storage.integrity import broken_parquet, checksum, sealed, unsealed
from quantshift.base.storage.plain_json import parse_json
from quantshift.errors import DataError
from quantshift.lab.results.schema import CORE, SCHEMA_VERSION, narrow_columns, select

REDO = "run the same command again; it will be redone"
UPGRADE = "upgrade quantshift to read it"
REWRITE = "`quantshift verify DIR --repair` writes it again"

_NAME = re.compile(r"[0-9a-f]{12}")
_ARROW: dict[pl.DataType, Any] = {
    pl.String(): pa.string(),
    pl.Float64(): pa.float64(),
    pl.Int32(): pa.int32(),
    pl.Int64(): pa.int64(),
    pl.Boolean(): pa.bool_(),
    pl.List(pl.Float64()): pa.list_(pa.float64()),
}

Kind: TypeAlias = Literal[
    "marker",
    "version",
    "missing",
    "truncated",
    "altered",
    "rows",
    "stale",
    "failure",
    "about",
]
_CURES: Mapping[Kind, str] = {"version": UPGRADE, "about": REWRITE}


@dataclass(frozen=True)
class Problem:
    """Something wrong with one file of a store."""

    kind: Kind
    path: Path
    detail: str

    @property
    def cure(self) -> str:
        """What to do about it."""
        return _CURES.get(self.kind, REDO)

    @property
    def repairable(self) -> bool:
        """Whether `repair` can fix it; files of another version are never removed."""
        return self.kind != "version"

    def __str__(self) -> str:
        return f"{self.path} {self.detail}; {self.cure}"


@dataclass(frozen=True)
class Part:
    """The content of a marker."""

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
        """The file that marks the part as complete."""
        return self.folder / f"{self.name}.json"


class DamagedFileError(DataError):
    """A part, or a record of failures, that must not be used; `problem` says why."""

    def __init__(self, problem: Problem) -> None:
        damaged = "damaged results: " if problem.repairable else ""
        super().__init__(f"{damaged}{problem}")
        self.problem = problem


def part_name(methods: Mapping[str, str]) -> str:
    """The name of a part with these methods (name -> signature), in any order."""
    pairs = json.dumps(sorted(methods.items()))
    return checksum(pairs.encode())[:12]


def is_marker(path: Path) -> bool:
    """Whether this is the name of a marker."""
    return path.suffix == ".json" and _NAME.fullmatch(path.stem) is not None


def is_data(path: Path) -> bool:
    """Whether this is the name of a part's Parquet file."""
    return path.suffix == ".parquet" and _NAME.fullmatch(path.stem) is not None


def encode(rows: pl.DataFrame) -> bytes:
    """The rows as the bytes of a Parquet file, without timestamps and with fixed writer options.

    Declared columns without any value are left out, so that the bytes do not depend on what else
    a store declares; reading restores them as nulls.
    """
    written = rows.select(n for n in rows.columns if n in CORE or rows[n].null_count() < len(rows))
    split = [
        _leaf(name, kind) for name, kind in written.schema.items() if _hardly_repeats(written[name])
    ]
    sink = pa.BufferOutputStream()
    pq.write_table(
        # Chunks depend on how a frame was put together, and the bytes must not.
        written.to_arrow().cast(_arrow_schema(written.schema)).combine_chunks(),
        sink,
        row_group_size=max(1, len(rows)),
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        compression_level=1,
        use_dictionary=[
            leaf for n, kind in written.schema.items() if (leaf := _leaf(n, kind)) not in split
        ],
        use_byte_stream_split=split,
        write_statistics=True,
    )
    return bytes(sink.getvalue().to_pybytes())


def write_part(folder: Path, methods: Mapping[str, str], rows: pl.DataFrame) -> Part:
    """Write rows that conform to the schema, then their marker. The folder must be locked."""
    content = encode(rows)
    part = Part(
        folder=folder,
        methods=dict(sorted(methods.items())),
        rows=len(rows),
        n_bytes=len(content),
        sha256=checksum(content),
    )
    record = sealed(
        {
            "schema": SCHEMA_VERSION,
            "rows": part.rows,
            "bytes": part.n_bytes,
            "sha256": part.sha256,
            "methods": part.methods,
        }
    )
    marker = (json.dumps(record, indent=2) + "\n").encode()
    # An older marker must not stand for other bytes, not even between two renames.
    if part.marker.exists() and part.marker.read_bytes() != marker:
        part.marker.unlink()
        flush(folder)
    write_whole(part.data, content)
    write_whole(part.marker, marker)
    flush(folder)
    return part


def remove_part(marker: Path) -> None:
    """Remove a part, its marker first. The folder must be locked."""
    marker.unlink(missing_ok=True)
    flush(marker.parent)
    marker.with_suffix(".parquet").unlink(missing_ok=True)


def load_part(marker: Path) -> Part:
    """The part of a marker. Checks that its data has the right size, but does not read it."""
    part = _parse(marker)
    if not part.data.is_file():
        raise DamagedFileError(
            Problem("missing", part.data, "is missing, although its marker exists")
        )
    n_bytes = part.data.stat().st_size
    if n_bytes != part.n_bytes:
        detail = f"has {n_bytes} bytes instead of {part.n_bytes}"
        raise DamagedFileError(Problem("truncated", part.data, detail))
    return part


def read_bytes(part: Part) -> bytes:
    """The Parquet file's bytes, compared with the marker's hash."""
    content = part.data.read_bytes()
    if checksum(content) != part.sha256:
        detail = "has changed since it was written (its SHA-256 differs from the marker's)"
        raise DamagedFileError(Problem("altered", part.data, detail))
    return content


def read_rows(part: Part, schema: pl.Schema) -> pl.DataFrame:
    """The rows of the part, compared with what the marker, the folders and the schema say.

    Declared columns without values in the part are not included.
    """
    dataset = part.folder.parent
    names = {"experiment": dataset.parent.name, "dataset": dataset.name, "cell": part.folder.name}
    return checked_rows(part, {n: k for n, k in schema.items() if n in CORE}, schema, names)


def checked_rows(
    part: Part,
    needed: Mapping[str, pl.DataType],
    declared: Mapping[str, pl.DataType],
    names: Mapping[str, str],
) -> pl.DataFrame:
    """The rows of a part, after checking their columns, number, methods and cell.

    needed, declared: columns that the rows must have, and those that they may have. names: the
    values that some columns have in every row.
    """
    content = read_bytes(part)
    problem = Problem("rows", part.data, "cannot be read as Parquet")
    with broken_parquet(DamagedFileError(problem)):
        rows = pl.read_parquet(content)
    narrow = narrow_columns(rows.schema, declared)
    columns = {**rows.schema, **{name: declared[name] for name in narrow}}
    fits = needed.items() <= columns.items() <= declared.items()
    checks = {
        "does not have the columns of the schema": fits,
        f"has {len(rows)} rows instead of {part.rows}": len(rows) == part.rows,
    }
    if fits:
        checks |= {
            "has other methods than its marker": set(rows["method"].unique()) == set(part.methods),
            "has rows of another cell": all(set(rows[k].unique()) == {v} for k, v in names.items()),
        }
    for detail, holds in checks.items():
        if not holds:
            raise DamagedFileError(Problem("rows", part.data, detail))
    return rows.select(select(rows.schema, pl.Schema(columns))) if narrow else rows


def other_version(path: Path, version: Any) -> Problem | None:
    """The problem with a file of another schema version; None if the version is ours or invalid."""
    if type(version) is not int or version == SCHEMA_VERSION:
        return None
    detail = f"has result schema {version}, this version reads {SCHEMA_VERSION}"
    return Problem("version", path, detail)


def _parse(marker: Path) -> Part:
    version = None
    try:
        record: Any = parse_json(marker.read_bytes())
        version = record["schema"]
        if version == SCHEMA_VERSION:
            record = unsealed(record)
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
        pass
    problem = other_version(marker, version)
    raise DamagedFileError(problem or Problem("marker", marker, "is not a readable marker"))


def _arrow_schema(schema: pl.Schema) -> Any:
    return pa.schema([(name, _ARROW[kind]) for name, kind in schema.items()])


def _leaf(name: str, kind: pl.DataType) -> str:
    """The column as Parquet names it: the elements of a list are a nested column."""
    return f"{name}.list.element" if kind.is_nested() else name


def _hardly_repeats(column: pl.Series) -> bool:
    """Whether more than half of the numbers are distinct, so that a dictionary does not help."""
    numbers = column.explode() if column.dtype.is_nested() else column
    return numbers.dtype.is_float() and 2 * numbers.n_unique() > len(numbers)
