"""How methods look, in one place for all figures and the page.

Colours are those of Okabe & Ito, "Color universal design" (2008), told apart with any common colour
vision; the yellow is darkened, because the original hardly shows on white paper. Markers, dashes
and hatches tell methods apart where there is no colour at all.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from quantshift.analysis.methods import order_methods


class MethodStyle(NamedTuple):
    """Colour (hexadecimal), marker and dash (matplotlib's codes) and hatch of a method."""

    colour: str
    marker: str
    dash: str | tuple[int, tuple[int, ...]]
    hatch: str


METHOD_STYLE: Mapping[str, MethodStyle] = MappingProxyType(
    {
        "CC": MethodStyle("#E69F00", "s", (0, (1, 1)), "//"),
        "ACC": MethodStyle("#D55E00", "o", (0, (4, 1)), "\\\\"),
        "PCC": MethodStyle("#56B4E9", "D", (0, (1, 2)), "--"),
        "PACC": MethodStyle("#0072B2", "^", (0, (6, 2)), "xx"),
        "HDy": MethodStyle("#CC79A7", "<", (0, (4, 1, 1, 1)), "||"),
        "DyS": MethodStyle("#009E73", "v", (0, (6, 1, 1, 1, 1, 1)), "++"),
        "SMM": MethodStyle("#B8A600", ">", (0, (2, 3)), "oo"),
        "SLD": MethodStyle("#000000", "P", "-", ""),
        "MLPE": MethodStyle("#7F7F7F", "X", (0, (1, 4)), ".."),
    }
)
"""The styles of the paper's methods; `method_styles` adds those of others."""

ON_DARK: Mapping[str, str] = MappingProxyType({"#000000": "#F5F5F5", "#7F7F7F": "#A6A6A6"})
"""Colours to be replaced on a dark background; the others show on both."""

_SPARE = tuple(
    MethodStyle(colour, marker, dash, hatch)
    for marker, dash, hatch in (
        ("*", (0, (8, 2, 2, 2)), "**"),
        ("h", (0, (3, 1, 3, 3)), "/o"),
        ("p", (0, (10, 3)), "\\|"),
    )
    for colour in ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#B8A600")
)


def method_styles(names: Iterable[str]) -> dict[str, MethodStyle]:
    """The style of each method: its own, or for an unknown one the next that is free.

    >>> sorted(method_styles(["SLD", "Mine"]))
    ['Mine', 'SLD']
    """
    methods = order_methods(names)
    others = [name for name in methods if name not in METHOD_STYLE]
    spare = {name: _SPARE[i % len(_SPARE)] for i, name in enumerate(others)}
    return {name: METHOD_STYLE.get(name) or spare[name] for name in methods}


def method_style(name: str, among: Iterable[str] = ()) -> MethodStyle:
    """The style of one method where those of `among` are shown together."""
    return method_styles([name, *among])[name]
