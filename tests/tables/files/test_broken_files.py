"""Errors of the libraries for a broken file become one line that names it."""

import zipfile
import zlib

import pyarrow as pa
import pytest

from quantshift.errors import DataError, UserError
from quantshift.tables.files.broken_files import explained


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (FileNotFoundError(), "a.csv: no such file"),
        (IsADirectoryError(), "a.csv: a folder, not a file; give its files"),
        (PermissionError(), "a.csv: not readable (permission denied)"),
        (zipfile.BadZipFile("no"), "a.csv: not a readable zip archive (no)"),
        (EOFError(), "a.csv: truncated or damaged archive; download it again"),
        (zlib.error(), "a.csv: truncated or damaged archive; download it again"),
        (RuntimeError("password"), "a.csv: cannot unpack (password)"),
        (NotImplementedError("method 99"), "a.csv: cannot unpack (method 99)"),
        (pa.ArrowInvalid("Empty CSV file"), "a.csv: the file is empty"),
        (
            pa.ArrowInvalid("straddling object straddles two block boundaries"),
            "a.csv: a row is longer than 4 MB; is every row on its own line?",
        ),
        (
            pa.ArrowInvalid("Parquet magic bytes not found\nin the footer"),
            "a.csv: not a readable Parquet file (Parquet magic bytes not found)",
        ),
        (
            pa.ArrowInvalid("Expected 2 columns"),
            "a.csv: its content does not match its file name (Expected 2 columns)",
        ),
        (
            OSError("Truncated compressed stream"),
            "a.csv: truncated or damaged gzip file (Truncated compressed stream); download it "
            "again",
        ),
        (OSError("Input/output error"), "a.csv: cannot be read (Input/output error)"),
    ],
)
def test_errors_of_the_libraries(error, line):
    with pytest.raises(DataError) as raised, explained("a.csv"):
        raise error
    assert str(raised.value) == line


def test_other_errors_stay_as_they_are():
    for error in (UserError("ours"), KeyError("a mistake of ours")):
        with pytest.raises(type(error)) as raised, explained("a.csv"):
            raise error
        assert raised.value is error
