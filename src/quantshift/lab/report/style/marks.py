"""The styles of methods, shared by all figures and the page.

Markers and dashes distinguish methods without colour. The methods of the paper have fixed styles;
others cycle through colours, markers and dashes at once. These cycles have different lengths, so
that no combination is repeated.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from quantshift.answers.shell.colours import PALETTE
from quantshift.lab.analysis.methods import order_methods

Dash = str | tuple[int, tuple[int, ...]]


class MethodStyle(NamedTuple):
    """Colour (hexadecimal), marker and dash (matplotlib's codes) of a method."""

    colour: str
    marker: str
    dash: Dash


METHOD_STYLE: Mapping[str, MethodStyle] = MappingProxyType(
    {
        "CC": MethodStyle("#E69F00", "s", (0, (1, 1))),
        "ACC": MethodStyle("#D55E00", "o", (0, (4, 1))),
        "PCC": MethodStyle("#56B4E9", "D", (0, (1, 2))),
        "PACC": MethodStyle("#0072B2", "^", (0, (6, 2))),
        "HDy": MethodStyle("#CC79A7", "<", (0, (4, 1, 1, 1))),
        "DyS": MethodStyle("#009E73", "v", (0, (6, 1, 1, 1, 1, 1))),
        "SMM": MethodStyle("#B8A600", ">", (0, (2, 3))),
        "SLD": MethodStyle("#000000", "P", "-"),
        "MLPE": MethodStyle("#7F7F7F", "X", (0, (1, 4))),
    }
)
"""The styles of the paper's methods; `method_styles` adds those of others."""

MARKERS = ("*", "p", "d", "h", "o", "^", "s", "v", "D", "<", "P", ">", "X")
DASHES: tuple[Dash, ...] = (
    *((0, (8, 2, 2, 2)), (0, (3, 1, 3, 3)), (0, (10, 3)), (0, (3, 1))),
    *((0, (5, 1, 1, 1, 1, 1, 1, 1)), (0, (2, 1)), (0, (12, 2, 1, 2))),
)
"""None of these is a dash of the paper's methods, so that no style is the same as theirs."""


def method_styles(names: Iterable[str]) -> dict[str, MethodStyle]:
    """The style of each method: its fixed one, or for other methods the next that is free.

    Up to twelve methods have different colours; beyond that, methods that share a colour differ in
    marker and dash.

    >>> sorted(method_styles(["SLD", "Mine"]))
    ['Mine', 'SLD']
    """
    methods = order_methods(names)
    others = [name for name in methods if name not in METHOD_STYLE]
    taken = {METHOD_STYLE[name].colour for name in methods if name in METHOD_STYLE}
    # Sorting is stable: colours that no method of the paper uses come first.
    colours = sorted(PALETTE, key=taken.__contains__)
    spare = {name: _spare(number, colours) for number, name in enumerate(others)}
    return {name: METHOD_STYLE.get(name) or spare[name] for name in methods}


def _spare(number: int, colours: Sequence[str]) -> MethodStyle:
    """The style of the n-th method without a fixed one.

    12 colours and 13 markers repeat after 156 methods; the dashes are then shifted by one.
    """
    cycle = number // (len(colours) * len(MARKERS))
    return MethodStyle(
        colours[number % len(colours)],
        MARKERS[number % len(MARKERS)],
        DASHES[(number + cycle) % len(DASHES)],
    )
