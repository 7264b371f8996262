"""Temporary files for data that can be read only once, or must be rewritten before it is read."""

import os
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path


class Spool:
    """A temporary file that is removed when the object is garbage-collected."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        handle, name = tempfile.mkstemp(prefix="quantshift-")
        self.path = Path(name)
        weakref.finalize(self, self.path.unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
