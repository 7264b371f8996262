"""A case where prior and covariate shift coincide: classes on disjoint intervals.

Positives are uniform on (a, b), negatives on (c, d), a < b < c < d. A change of the prevalence
leaves P(X|Y) unchanged (prior shift), and P(Y|X) too, while P(X) changes (covariate shift). This is
why covariate shift is defined here by a change of P(X|Y).
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from quantshift.lab.displays.drawing.ink import INK
from quantshift.lab.report.figures.canvas import blank, house_style
from quantshift.lab.report.illustrations.panels import NEGATIVE, POSITIVE

INTERVALS = {True: (1.0, 3.0), False: (4.0, 7.0)}
"""Support of the positives and of the negatives."""

PREVALENCES = {"L": 0.5, "U": 0.2}

_STYLE: dict[bool, dict[str, Any]] = {
    True: {"facecolor": POSITIVE, "hatch": "", "label": "positive"},
    False: {"facecolor": NEGATIVE, "hatch": "////", "label": "negative"},
}


def overlap_illustration() -> Figure:
    """Training (L) at prevalence 0.5 and test (U) at 0.2: P(X), P(X | Y) and P(Y | X)."""
    with house_style():
        figure = blank(3.6)
        grid = figure.subplots(2, 3, sharex=True, sharey="col")
        for (name, p_true), (marginal, conditional, posterior) in zip(
            PREVALENCES.items(), grid, strict=True
        ):
            shares = {True: p_true, False: 1 - p_true}
            for positive, (low, high) in INTERVALS.items():
                height = 1 / (high - low)
                _block(marginal, low, high, shares[positive] * height, positive=positive)
                _block(conditional, low, high, height, positive=positive)
                _block(posterior, low, high, 1.0, positive=positive)
            marginal.set_ylabel(f"$P_{{{name}}}(Y=1) = {p_true}$", labelpad=6)
        for axes, title in zip(
            grid[0], ("$P(X)$", "$P(X\\,|\\,Y)$", "$P(Y\\,|\\,X)$"), strict=True
        ):
            axes.set_title(title)
        ends = sorted(np.ravel(list(INTERVALS.values())))
        for axes, relation in zip(
            grid[1],
            (
                "$P_L(X) \\neq P_U(X)$",
                "$P_L(X|Y) = P_U(X|Y)$: prior shift",
                "$P_L(Y|X) = P_U(Y|X)$: covariate shift",
            ),
            strict=True,
        ):
            axes.set_xlabel(relation, labelpad=5)
            axes.set_xticks(ends, ["$a$", "$b$", "$c$", "$d$"])
        for axes in grid.flat:
            axes.set(xlim=(0, 8), yticks=[], ymargin=0.12)
            axes.set_ylim(bottom=0)
            axes.spines[["top", "right"]].set_visible(False)
        figure.legend(
            handles=[Patch(edgecolor=INK, linewidth=0.7, **style) for style in _STYLE.values()],
            loc="outside lower center",
            ncols=2,
        )
    return figure


def _block(axes: Axes, low: float, high: float, height: float, *, positive: bool) -> None:
    style = _STYLE[positive]
    axes.bar(
        low,
        height,
        width=high - low,
        align="edge",
        edgecolor=INK,
        linewidth=0.7,
        alpha=0.75,
        facecolor=style["facecolor"],
        hatch=style["hatch"],
    )
