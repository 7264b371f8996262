"""Extras: packages that only some work needs, and the line that names a missing one."""

from collections.abc import Iterator
from contextlib import contextmanager

from quantshift.errors import UserError


@contextmanager
def extra_needed(extra: str, work: str) -> Iterator[None]:
    """Around imports: a package that is missing becomes one line that says how to install it.

    work: what needs it, as the subject of the sentence.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "quantshift":
            raise
        raise UserError(
            f"{work} need {package}, which is not installed: pip install 'quantshift[{extra}]'"
        ) from None
