"""Errors whose message is meant for the user: what is wrong, where, and what to do.

Each of them is a `ValueError`, which library users can catch as usual. The command line prints the
message as one line and exits with code 2.
"""

import contextlib
import difflib
from collections.abc import Iterable, Sequence
from numbers import Real

from quantshift.credentials import without_credentials


class UserError(ValueError):
    """Something in the user's input is wrong; the message says how to fix it.

    It is a `ValueError`. The message never shows the password of a URL.

    Attributes
    ----------
    arguments : tuple of str
        Names of the parameters that would fix it; the command line adds its options.

    Examples
    --------
    >>> from quantshift import SLD, UserError
    >>> try:
    ...     SLD(tol=-1).fit([[0.0], [1.0]], ["ham", "spam"])
    ... except UserError as error:
    ...     print(error)
    tol of SLD must be a number of at least 0, got -1
    """

    def __init__(self, message: object, *, arguments: Sequence[str] = ()) -> None:
        super().__init__(without_credentials(str(message)))
        self.arguments = tuple(arguments)


class DataError(UserError):
    """A file, an array or a column does not hold what it should."""


class MissingPackageError(UserError, ModuleNotFoundError):
    """A package is not installed; the message names the extra that installs it."""

    def __init__(self, message: str, *, name: str | None) -> None:
        super().__init__(message)
        self.name = name


class PoolTooSmallError(UserError):
    """A draw asks for more items than its pool has."""


def check_level(level: object, of: str = "an interval") -> None:
    """Refuse a confidence level that is not a number between 0 and 1."""
    if isinstance(level, Real) and 0 < float(level) < 1:
        return
    raise UserError(
        f"the level of {of} must be between 0 and 1, such as 0.95, got {level!r}",
        arguments=["level"],
    )


LARGEST_SEED = 2**32 - 1
"""The largest seed that every library takes."""


def check_utf8(name: object) -> None:
    """Refuse a name that is not text: answers, which are UTF-8, could not say what they are of."""
    text = str(name)
    try:
        text.encode()
    except UnicodeEncodeError:
        # Python keeps bytes that are not UTF-8 as characters of their own.
        stored = text.encode("utf-8", "backslashreplace")
        with contextlib.suppress(UnicodeEncodeError):
            stored = text.encode("utf-8", "surrogateescape")
        shown = stored.decode("utf-8", "backslashreplace")
        raise UserError(f"{shown}: this name is not UTF-8; rename the file or folder") from None


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UserError:
    """An error for a name outside a closed vocabulary, with the nearest known one."""
    choices = sorted(known)
    near = difflib.get_close_matches(name, choices, n=1, cutoff=0.5)
    if not near:
        near = [choice for choice in choices if choice.lower() == name.lower()]
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(choices)}"
    return UserError(f"unknown {kind} {name!r}; {hint}")
