"""The order in which methods are named: the paper's, then any others by name."""

from collections.abc import Iterable

PAPER_METHODS = ("CC", "ACC", "PCC", "PACC", "DyS", "SLD")
"""The six methods of the paper's tables and figures, in its order."""

ORDER = ("CC", "ACC", "PCC", "PACC", "HDy", "DyS", "SMM", "SLD", "MLPE")
"""The nine methods of the paper, in the order of its text."""


def order_methods(names: Iterable[str]) -> tuple[str, ...]:
    """The distinct names: the paper's nine methods in its order, then the others by name.

    >>> order_methods(["SLD", "Mine", "CC", "SLD"])
    ('CC', 'SLD', 'Mine')
    """
    present = set(names)
    return (*(name for name in ORDER if name in present), *sorted(present.difference(ORDER)))
