"""Temporary files for what can be read once only, or must be mended before it is read."""

import os
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path


class Spool:
    """A temporary file that is gone as soon as nobody holds it any more."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        handle, name = tempfile.mkstemp(prefix="quantshift-")
        self.path = Path(name)
        weakref.finalize(self, self.path.unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
