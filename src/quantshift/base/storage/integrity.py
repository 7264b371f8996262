"""The integrity of the files that we write, stated and checked in one place.

Every such file names its format and version, says how much it holds, and has a checksum of its
content. It is read only if all of them are right, by whatever reads it: an answer from a damaged
file looks like any other.

- A file of JSON has a seal, the checksum of everything else in it (`sealed`, `unsealed`).
- A file beside one of JSON has its size and `checksum` in there.
- A table has its number of rows and its `table_checksum` in the description that it carries, which
  is sealed.
- A call in a history has its checksum in its name.
- The result of a query, for which a database cannot write a description, has a check of every line
  and totals in every line (see `sketches.sql`).

A checksum reveals damage and careless edits. It is not a signature: anyone can make a valid one. So
what is read is validated like any other input, after the checksum.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quantshift.base.storage.arrow import with_arrow_errors
from quantshift.errors import DataError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

SEAL = "seal"
"""The key of the checksum of a record."""


def checksum(content: bytes) -> str:
    """The SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def record_checksum(record: Mapping[str, Any]) -> str:
    """The checksum of what a record of JSON says, however it is laid out.

    >>> record_checksum({"a": 1, "b": 2}) == record_checksum({"b": 2, "a": 1})
    True
    """
    return checksum(json.dumps(record, sort_keys=True, separators=(",", ":")).encode())


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its checksum as the last entry."""
    return {**record, SEAL: record_checksum(record)}


def unsealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record without its seal; a ValueError if it has none, or was changed.

    >>> unsealed(sealed({"rows": 5}))
    {'rows': 5}
    >>> unsealed(sealed({"rows": 5}) | {"rows": 6})
    Traceback (most recent call last):
    ValueError: has been changed or damaged
    """
    content = {name: value for name, value in record.items() if name != SEAL}
    if record.get(SEAL) != record_checksum(content):
        raise ValueError("has been changed or damaged")
    return content


def table_checksum(table: "pl.DataFrame") -> str:
    """The checksum of the names, types, gaps and values of columns of numbers and texts.

    It is that of the values, and not of a file: the same table has the same one whatever library
    wrote it.
    """
    import numpy as np
    import polars as pl

    digest = hashlib.sha256(f"{table.height}".encode())
    for column in table.get_columns():
        is_text = column.dtype == pl.String
        digest.update(f"\0{column.name}\0{column.dtype}\0".encode())
        digest.update(np.packbits(column.is_null().to_numpy()).tobytes())
        if is_text:
            texts = column.fill_null("")
            digest.update(texts.str.len_bytes().to_numpy().astype("<u8").tobytes())
            for chunk in texts.to_frame().iter_slices(_TEXTS_AT_ONCE):
                digest.update("".join(chunk.to_series()).encode())
        else:
            numbers = column.fill_null(0).to_numpy()
            digest.update(numbers.astype(numbers.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()


_TEXTS_AT_ONCE = 1 << 16


@contextmanager
def broken_parquet(error: DataError) -> Iterator[None]:
    """Raise this error in place of those by which libraries refuse a broken Parquet file."""
    import polars as pl

    try:
        yield
    # Polars panics on some broken files, which is no Exception; a changed text is no UTF-8.
    except with_arrow_errors(
        pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeError
    ) as cause:
        raise error from cause


def load_array(path: Path) -> "NDArray[Any]":
    """The array of a .npy file, mapped into memory.

    An OSError or a ValueError if it is none: numpy takes the header for Python code, and raises
    whatever a damaged one makes of it.
    """
    import numpy as np

    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception as error:
        raise ValueError(str(error) or type(error).__name__) from error
    if not isinstance(array, np.ndarray):
        array.close()
        raise ValueError("an archive of arrays")
    return np.asarray(array)
