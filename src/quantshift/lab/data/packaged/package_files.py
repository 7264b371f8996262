"""Files of installed packages: found and read without importing the package.

The packages hold tables for courses and benchmarks, and bring their own loaders. Those return
encoded or imputed columns, or need other large packages; here the files are read as they are.
"""

import bz2
import gzip
import importlib.util
import re
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from quantshift.base.extras import EXTRA_OF, missing_package
from quantshift.errors import DataError

GAPS = ("", "?", "<null>", "NA", "NaN")
"""What the files write for a missing value."""

_ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|[^\s{]+)\s*(.*)", re.IGNORECASE)


def folder_of(package: str) -> Path | None:
    """The folder of an installed package; None: it is not installed."""
    spec = importlib.util.find_spec(package)
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    return Path(places[0]) if places else None


def package_file(data_set: str, package: str, path: str) -> Path:
    """A file of a package; an error that says what to install for the data set if it is missing."""
    folder = folder_of(package)
    if folder is None:
        error = ModuleNotFoundError(name=package)
        raise missing_package(error, f"the data set {data_set} needs") or error
    file = folder / path
    if not file.is_file():
        distribution, extra = EXTRA_OF[package]
        raise DataError(
            f"the data set {data_set} is read from {path} of {distribution}, which this version of "
            f"{distribution} does not have: pip install -U 'quantshift[{extra}]'"
        )
    return file


def keel_table(file: Path) -> pl.DataFrame:
    """A table in KEEL's format: `@attribute` lines, then rows; its declared numbers are numbers."""
    numbers: dict[str, bool] = {}
    n_lines = 0
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            n_lines += 1
            if line.lower().startswith("@data"):
                break
            if declared := _ATTRIBUTE.match(line):
                name, kind = declared.groups()
                numbers[name.strip("'")] = not kind.startswith("{")
        else:
            raise DataError(f"{file}: no line @data, so this is no table of KEEL's")
    rows = _rows(file, n_lines)
    named = rows.rename(dict(zip(rows.columns, numbers, strict=True)))
    return named.with_columns(
        pl.col([name for name, is_number in numbers.items() if is_number]).cast(pl.Float64)
    )


def plain_rows(file: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Rows separated by commas without a header; a column of numbers only is one of numbers."""
    cells = _rows(file, 0)
    rows = cells.rename(dict(zip(cells.columns, columns, strict=True)))
    return rows.with_columns(_number_if_all(rows[name]) for name in columns)


def numbered_rows(file: Path) -> pl.DataFrame:
    """The same with as many columns as there are: x1, x2 ... and, last, class."""
    n_features = len(_rows(file, 0).columns) - 1
    return plain_rows(file, [*(f"x{k + 1}" for k in range(n_features)), "class"])


def spaced_rows(file: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Rows whose cells are separated by any number of spaces."""
    cells = [line.split() for line in file.read_text("utf-8").splitlines() if line.strip()]
    rows = pl.DataFrame(cells, schema=list(columns), orient="row")
    return rows.with_columns(_number_if_all(rows[name]) for name in columns)


def read_csv_table(file: Path, *, separator: str = ",") -> pl.DataFrame:
    """A CSV file with a header, also as .bz2, as .gz and as the only file of a .zip."""
    if file.suffix == ".bz2":
        data = bz2.decompress(file.read_bytes())
    elif file.suffix == ".gz":
        data = gzip.decompress(file.read_bytes())
    elif file.suffix == ".zip":
        with zipfile.ZipFile(file) as archive:
            data = archive.read(archive.namelist()[0])
    else:
        data = file.read_bytes()
    return _parsed(data, separator)


def archived_csv(file: Path, member: str) -> pl.DataFrame:
    """A CSV file with a header in a compressed tar archive, of which nothing else is unpacked."""
    with tarfile.open(file) as archive:
        content = archive.extractfile(member)
        if content is None:
            raise LookupError(member)
        return _parsed(content.read(), ",")


def _parsed(data: bytes, separator: str) -> pl.DataFrame:
    return pl.read_csv(
        data.removeprefix(b"\xef\xbb\xbf"),
        separator=separator,
        null_values=list(GAPS),
        infer_schema_length=None,
    )


def _rows(file: Path, skipped: int) -> pl.DataFrame:
    """The cells as text without spaces around them, null where one is missing."""
    rows = pl.read_csv(
        file, has_header=False, skip_rows=skipped, infer_schema=False, quote_char=None
    )
    stripped = rows.with_columns(pl.all().str.strip_chars())
    filled = stripped.with_columns(
        pl.when(~pl.all().is_in(GAPS)).then(pl.all()).otherwise(None).name.keep()
    )
    return filled.filter(~pl.all_horizontal(pl.all().is_null()))


def _number_if_all(column: pl.Series) -> pl.Series:
    numbers = column.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == column.null_count() else column
