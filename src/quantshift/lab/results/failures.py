"""Records of what went wrong in a cell: which methods failed, the error, and its traceback.

A cell has at most one file of failures. It contains no times, so that the same failure gives the
same bytes.
"""

import json
import sysconfig
import traceback
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from quantshift.base.storage.files import flush, write_whole
from quantshift.base.storage.integrity import sealed, unsealed
from quantshift.base.storage.plain_json import parse_json
from quantshift.lab.results.parts import DamagedFileError, Problem, other_version
from quantshift.lab.results.schema import SCHEMA_VERSION

FAILURE = "failure.json"


@dataclass(frozen=True)
class Failure:
    """An error that left some methods (name -> signature) of a cell without results."""

    methods: Mapping[str, str]
    error: str
    message: str
    traceback: str

    @classmethod
    def of(cls, methods: Mapping[str, str], error: BaseException) -> "Failure":
        """The record of an exception, with what it was raised from."""
        return cls(
            methods=dict(sorted(methods.items())),
            error=type(error).__name__,
            message=f"{error}{_place(error)}",
            traceback="".join(traceback.format_exception(error)),
        )


def _place(error: BaseException) -> str:
    """Where a user's own method failed: its file and line, if it is of no installed package."""
    package, libraries = Path(__file__).parents[2], sysconfig.get_path("purelib")
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.endswith(".py")
        and not Path(frame.filename).is_relative_to(package)
        and not Path(frame.filename).is_relative_to(libraries)
    ]
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


def load_failures(folder: Path) -> tuple[Failure, ...]:
    """The failures of the cell in `folder`; none if it has no such file."""
    path = folder / FAILURE
    written = None
    try:
        record = parse_json(path.read_bytes())
        written = record["schema"]
        if written == SCHEMA_VERSION:
            return tuple(map(_failure, unsealed(record)["failures"]))
    except FileNotFoundError:
        return ()
    except (ValueError, TypeError, KeyError, AttributeError):
        pass
    problem = other_version(path, written)
    raise DamagedFileError(problem or Problem("failure", path, "is not a readable failure record"))


def _failure(values: dict[str, Any]) -> Failure:
    failure = Failure(**values)
    texts = (failure.error, failure.message, failure.traceback, *failure.methods.values())
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("the entries of a failure must be text")
    return failure


def save_failures(folder: Path, failures: Sequence[Failure]) -> None:
    """Replace the failures of the cell in the locked `folder`; without any, remove the file."""
    path = folder / FAILURE
    if failures:
        ordered = sorted(failures, key=lambda failure: sorted(failure.methods))
        record = {"schema": SCHEMA_VERSION, "failures": [asdict(f) for f in ordered]}
        write_whole(path, (json.dumps(sealed(record), indent=2) + "\n").encode())
    elif path.exists():
        path.unlink()
    else:
        return
    flush(folder)


def without(failures: Sequence[Failure], methods: Collection[str]) -> list[Failure]:
    """The failures without these methods."""
    remaining = (
        replace(f, methods={k: v for k, v in f.methods.items() if k not in methods})
        for f in failures
    )
    return [failure for failure in remaining if failure.methods]
