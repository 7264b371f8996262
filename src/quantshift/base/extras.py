"""Extras: optional packages, and the error that names a missing one."""

from collections.abc import Iterator
from contextlib import contextmanager

from quantshift.errors import UserError


@contextmanager
def extra_needed(extra: str, work: str) -> Iterator[None]:
    """Around imports: a missing package becomes an error that says how to install it.

    work: what needs the package, as the (plural) subject of the sentence.
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
