"""Files that are counted: each once, as it is, with the keys in the names of its folders."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

from quantshift.errors import DataError
from quantshift.tables.formats import database_of, sheet_of
from quantshift.tables.reading import shown_file

NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""The folder of rows whose key is missing."""


@contextmanager
def unchanged(files: Sequence[str | Path]) -> Iterator[None]:
    """Refuse files that change while they are counted, such as one that is still being written."""
    before = [_state(file) for file in files]
    yield
    for file, state in zip(files, before, strict=True):
        if _state(file) != state:
            raise DataError(
                f"{shown_file(file)}: the file changed while it was counted; run the same command "
                "again when it is complete"
            )


def _state(file: str | Path) -> tuple[int, int, int] | None:
    """What shows whether a file has changed; None for pipes and tables in databases."""
    path, _ = sheet_of(file)
    if database_of(file) or not path.is_file():
        return None
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def keys_of_folders(path: Path) -> dict[str, str | None]:
    """The keys in the names of a file's folders, as in `scores/day=2026-03-02/part-0.parquet`."""
    pairs = [part.partition("=") for part in path.parts[:-1] if "=" in part]
    return {
        unquote(name): None if value == NO_PARTITION else unquote(value) for name, _, value in pairs
    }
