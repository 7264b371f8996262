"""A log of runs as JSON lines (when, how long, on which host); not part of the results."""

import json
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from quantshift.base.storage.files import disk_errors, make_folder
from quantshift.base.storage.plain_json import parse_json

NUMBERS = ("cells", "cells_planned", "failures", "seconds", "workers")
"""The keys of a record whose values are numbers."""


@dataclass(frozen=True)
class RunLog:
    """A file of JSON lines to which any number of processes may append."""

    path: Path

    def append(self, record: Mapping[str, Any]) -> None:
        """Add a record, with the time (UTC), the host and the process that wrote it."""
        stamp = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "host": socket.gethostname(),
            "process": os.getpid(),
        }
        line = (json.dumps(stamp | dict(record), ensure_ascii=False) + "\n").encode()
        make_folder(self.path.parent)
        with disk_errors(self.path.parent):
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                # One write per line, so that lines of several processes do not mix.
                os.write(descriptor, line)
            finally:
                os.close(descriptor)

    def records(self) -> list[dict[str, Any]]:
        """All records in the order of the file, without incomplete or invalid lines."""
        if not self.path.exists():
            return []
        records = []
        for line in self.path.read_bytes().splitlines():
            with suppress(ValueError):
                records.append(parse_json(line))
        return [record for record in records if _is_sound(record)]


def _is_sound(record: Any) -> bool:
    if not isinstance(record, dict):
        return False
    return all(isinstance(record.get(name, 0), int | float) for name in NUMBERS)
