"""Logs of Inspect as it writes them: archives with a file for each sample.

A log is compared with its own header, and every name in the archive with that of the file itself:
where the archive's list of files is damaged, a sample would be missing without a word.
"""

import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from quantshift.base.storage.archives import member_bytes
from quantshift.errors import DataError
from quantshift.tables.files.chunks import OpenTable
from quantshift.tables.formats.evaluations import Inspect, ReadRow
from quantshift.tables.formats.json import table_of_objects
from quantshift.tables.formats.table_format import TableFile, TableFormat

HEADER, START, SAMPLES = "header.json", "_journal/start.json", "samples/"

_LAYOUT = Inspect()


def _open(file: TableFile) -> OpenTable:
    with _readable(file), zipfile.ZipFile(file.path) as archive:
        for info in archive.infolist():
            # Compares the name in the list of files with that before the file's own bytes.
            archive.open(info).close()
        names = _samples(archive)
        header = _header(archive)

    def objects() -> Iterator[ReadRow]:
        with _readable(file), zipfile.ZipFile(file.path) as archive:
            for name in names:
                yield _LAYOUT.read(
                    f"{file.name}: {name}", json.loads(member_bytes(archive, name)), header
                )

    findings = tuple(_LAYOUT.findings(header, len(names)))
    return table_of_objects(file.name, objects, findings, _LAYOUT.identity)


@contextmanager
def _readable(file: TableFile) -> Iterator[None]:
    """Turn what a damaged archive, or a file in it that is no JSON, leads to into one line."""
    try:
        yield
    except (zipfile.BadZipFile, ValueError, KeyError, RecursionError) as error:
        raise DataError(f"{file.name}: not a readable log of Inspect: {error}") from error


def _samples(archive: zipfile.ZipFile) -> list[str]:
    """The names of the samples; one that was written again counts once, as written last."""
    names = (name for name in archive.namelist() if name.startswith(SAMPLES))
    return list(dict.fromkeys(name for name in names if name.endswith(".json")))


def _header(archive: zipfile.ZipFile) -> dict[str, Any]:
    """What the log says of itself; an evaluation writes it when it ends."""
    unfinished = {"status": "started"}
    written = [name for name in (HEADER, START) if name in archive.namelist()]
    if not written:
        return unfinished
    header = json.loads(member_bytes(archive, written[0]))
    if not isinstance(header, dict):
        raise DataError(f"not a log of Inspect: {written[0]} is no object")
    return header if written[0] == HEADER else unfinished | header


def _recognises(path: Path, start: bytes) -> bool:
    if not start.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.startswith(SAMPLES) for name in archive.namelist())
    except zipfile.BadZipFile:
        return False


INSPECT_LOG = TableFormat(
    name="logs of Inspect",
    endings=(".eval",),
    described="a log of Inspect",
    magic=(b"PK\x03\x04",),
    recognises=_recognises,
    open=_open,
)
