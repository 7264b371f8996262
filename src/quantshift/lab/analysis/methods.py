"""The order in which methods are named: the paper's, then any others by name."""

from collections.abc import Iterable, Sequence

PAPER_METHODS = ("CC", "ACC", "PCC", "PACC", "DyS", "SLD")
"""The six methods of the paper's tables and figures, in its order."""

ORDER = ("CC", "ACC", "PCC", "PACC", "HDy", "DyS", "SMM", "SLD", "MLPE")
"""The nine methods of the paper, in the order of its text."""


def order_methods(names: Iterable[str], first: Sequence[str] | None = None) -> tuple[str, ...]:
    """The distinct names: the paper's nine methods in its order, then the others by name.

    first: those that come before all of them, in this order, if they are among the names.

    >>> order_methods(["SLD", "Mine", "CC", "SLD"])
    ('CC', 'SLD', 'Mine')
    >>> order_methods(["SLD", "Mine", "CC"], ["Mine", "SLD", "PACC"])
    ('Mine', 'SLD', 'CC')
    """
    present = set(names)
    ordered = (*(first or ()), *ORDER, *sorted(present.difference(ORDER)))
    return tuple(dict.fromkeys(name for name in ordered if name in present))
