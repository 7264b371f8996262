"""Logs of Inspect as it writes them: archives with a file for each sample."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quantshift.errors import DataError
from quantshift.tables.chunks import OpenTable
from quantshift.tables.formats.evaluations import Inspect
from quantshift.tables.formats.json import table_of_objects
from quantshift.tables.formats.table_format import TableFile, TableFormat

HEADER, SAMPLES = "header.json", "samples/"


def _open(file: TableFile) -> OpenTable:
    def objects() -> Iterator[tuple[dict[str, Any], bool]]:
        try:
            with zipfile.ZipFile(file.path) as archive:
                names = archive.namelist()
                about = json.loads(archive.read(HEADER)).get("eval", {}) if HEADER in names else {}
                for name in names:
                    if name.startswith(SAMPLES) and name.endswith(".json"):
                        yield Inspect().row(json.loads(archive.read(name)), about), False
        except (zipfile.BadZipFile, ValueError, KeyError, AttributeError) as error:
            raise DataError(f"{file.name}: not a log of Inspect: {error}") from error

    return table_of_objects(file.name, objects)


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
