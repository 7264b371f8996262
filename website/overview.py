"""The picture of the errors of methods: the error of each one under every kind of shift.

Drawn from `docs/figures/errors.csv` (see `website.measured`), with its own background so that it
works on light and dark pages; its numbers are text, which a test reads.

    python -m website.overview
"""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from website.pages import DOCS

ERRORS = DOCS / "figures" / "errors.csv"
PICTURE = DOCS / "pictures" / "errors-by-shift.svg"
METHODS = ("CC", "PCC", "ACC", "PACC", "HDy", "DyS", "SLD", "SubclassSLD")
"""SMM is left out: with two classes it is PACC. So is MLPE, the baseline."""
SHIFTS: Mapping[str, str] = {
    "prior": "prior",
    "covariate-pure": "covariate",
    "covariate-mixed": "prior and covariate",
    "local": "local covariate",
    "concept": "concept (all fail)",
}
"""Parts of the experiments, and their names in the picture."""

CARD, INK, FAINT, BEST, OTHER = "#fbfbfd", "#22252b", "#6b7280", "#0b7a75", "#c3c9d4"


def overview(errors: pl.DataFrame) -> Figure:
    """A panel of bars for each kind of shift, the method with the lowest error in colour.

    None under concept shift, where all methods fail.
    """
    figure = Figure(figsize=(9.2, 3.3))
    add_card(figure)
    panels = figure.subplots(1, len(SHIFTS), sharex=True, sharey=True)
    figure.subplots_adjust(left=0.122, right=0.985, top=0.79, bottom=0.05, wspace=0.1)
    for axes, (part, name) in zip(panels, SHIFTS.items(), strict=True):
        means = dict(errors.filter(part=part).select("method", "mean").iter_rows())
        _panel(axes, name, [means[method] for method in METHODS], with_best=part != "concept")
    panels[0].set_yticks(range(len(METHODS)), METHODS, fontsize=11.5, color=INK)
    panels[0].invert_yaxis()
    panels[0].set_xlim(0, 0.345)
    figure.text(
        *(0.012, 0.925),
        "Mean absolute error of the estimated prevalence, by kind of dataset shift",
        fontsize=12.5,
        fontweight="bold",
        color=INK,
    )
    return figure


def add_card(figure: Figure) -> None:
    """A light background with rounded corners, so that a picture is legible on dark pages."""
    card = FancyBboxPatch(
        (0, 0), 1, 1, transform=figure.transFigure, boxstyle="round,pad=0,rounding_size=0.012"
    )
    card.set(facecolor=CARD, edgecolor="#d8dce4", linewidth=1.0, zorder=-1)
    figure.patches.append(card)


def save(figure: Figure, path: Path) -> None:
    """Write an SVG that is identical bit for bit every time, with its words as text."""
    drawn = io.BytesIO()
    fonts = ["Inter", "Helvetica Neue", "Arial", "Liberation Sans", "DejaVu Sans", "sans-serif"]
    style: Any = {"svg.fonttype": "none", "svg.hashsalt": "quantshift", "font.sans-serif": fonts}
    with mpl.rc_context(style):
        figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
    path.write_bytes(drawn.getvalue())


def _panel(axes: Axes, name: str, means: list[float], *, with_best: bool) -> None:
    least = min(means)
    for row, mean in enumerate(means):
        best = with_best and mean == least
        axes.barh(row, mean, height=0.68, color=BEST if best else OTHER)
        axes.text(
            *(mean + 0.008, row),
            f"{mean:.3f}",
            va="center",
            fontsize=10,
            color=BEST if best else FAINT,
            fontweight="bold" if best else "normal",
        )
    axes.set_title(name, fontsize=11.5, loc="left", color=INK, pad=6)
    axes.set_facecolor("none")
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0)
    for side, spine in axes.spines.items():
        spine.set_visible(side == "left")
        spine.set_color("#9aa1ad")


if __name__ == "__main__":
    save(overview(pl.read_csv(ERRORS)), PICTURE)
