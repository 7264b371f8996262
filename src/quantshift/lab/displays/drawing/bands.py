"""A band of estimates about a diagonal."""

from collections.abc import Iterable

import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from quantshift.lab.displays.drawing.ink import INK, MUTED, tint

_HALF, _NINE_TENTHS = 0.7, 0.3


def unit_squares(panels: Iterable[Axes]) -> None:
    """Draw panels from 0 to 1 with the diagonal; shared settings are made on the first."""
    for number, axes in enumerate(panels):
        if not number:
            axes.set(xlim=(0, 1), ylim=(0, 1))
            axes.set_xticks(np.linspace(0, 1, 6))
            axes.set_yticks(np.linspace(0, 1, 6))
        axes.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle="--", zorder=2.5)
        axes.set_aspect("equal")
        axes.set_axisbelow(True)
        axes.grid(visible=True)


def draw_band(axes: Axes, band: pl.DataFrame, colour: str) -> None:
    """Mean, middle half and middle 90% of estimates by true prevalence."""
    x, mean = band["p_true"].to_numpy(), band["mean"].to_numpy()
    for low, high, share in (("q5", "q95", _NINE_TENTHS), ("q25", "q75", _HALF)):
        axes.fill_between(
            x, band[low].to_numpy(), band[high].to_numpy(), color=tint(colour, share), linewidth=0
        )
    axes.plot(x, mean, color=INK, linewidth=0.9, marker="o", markersize=2.5)


def band_legend(colour: str = MUTED) -> list[Artist]:
    """Legend entries for the parts of a band."""
    return [
        Line2D([], [], color=INK, marker="o", markersize=2.5, label="mean"),
        Patch(facecolor=tint(colour, _HALF), label="middle half"),
        Patch(facecolor=tint(colour, _NINE_TENTHS), label="middle 90%"),
        Line2D([], [], color=INK, linewidth=0.8, linestyle="--", label="no error"),
    ]
