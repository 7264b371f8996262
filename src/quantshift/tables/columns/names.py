"""Names of data sets, which are folders in results, and the order of names."""

import re
import unicodedata
from collections.abc import Iterable

from quantshift.errors import UserError

NO_NAME = "(missing)"
"""The name of the category, group or batch of a row whose cell is empty."""

LONGEST = 80
"""The most characters of a name."""

MOST_BYTES = 200
"""File systems allow 255 bytes; a folder that is being written has a longer temporary name."""


def folder_name(text: str) -> str:
    """The text turned into a valid folder name.

    >>> folder_name("Bank churn (2019)")
    'Bank-churn-2019'
    """
    letters = unicodedata.normalize("NFC", text)
    replaced = "".join(c if c.isalnum() or c in "._-" else "-" for c in letters)
    words = [word for word in replaced.split("-") if word]
    name = "-".join(words).strip(".")[:LONGEST]
    return name.encode()[:MOST_BYTES].decode(errors="ignore").rstrip(".") or "data"


def check_data_set_name(name: str) -> str:
    """The name, refused if it is not a valid folder name."""
    if folder_name(name) != name:
        raise UserError(
            f"{_shown(name)} cannot name a data set: use at most {LONGEST} letters, digits, '.', "
            f"'_' and '-', for instance {folder_name(name)!r}"
        )
    return name


def _shown(name: str) -> str:
    return repr(name if len(name) <= LONGEST else f"{name[:LONGEST]}...")


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """The names sorted; numerically if all are numbers.

    >>> in_order(["10", "9"]), in_order(["10", "9", "x"])
    (('9', '10'), ('10', '9', 'x'))
    """
    all_names = tuple(names)
    if all(name.isdecimal() for name in all_names):
        return tuple(sorted(all_names, key=lambda name: (int(name), name)))
    return tuple(sorted(all_names))


def natural(name: str) -> tuple[object, ...]:
    """A sort key for names, in which numbers are compared by their values.

    >>> sorted(["week-10", "week-9", "2026-03-02"], key=natural)
    ['2026-03-02', 'week-9', 'week-10']
    """
    # Texts and numbers alternate, so that only like parts are compared. A number may have more
    # digits than Python converts.
    parts = re.split(r"0*([0-9]+)", name)
    return tuple((len(part), part) if i % 2 else part for i, part in enumerate(parts)), name
