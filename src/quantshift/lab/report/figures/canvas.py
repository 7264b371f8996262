"""The common style of all figures, and files that are identical bit for bit every time.

Figures are made without pyplot, so none stays open, and inside `house_style`, which restores all
settings afterwards: neither do figures affect other plots, nor do other settings affect figures.
Files contain no date, program version or random identifier.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib.style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.mathtext import MathTextParser
from matplotlib.textpath import TextPath

from quantshift.errors import unknown_name
from quantshift.lab.displays.drawing.ink import INK

TEXT_WIDTH = 7.0
"""Width in inches of a figure that fills a printed page from margin to margin."""

PALE = "#e9e9e9"
"""The grey behind marked panels."""

GRID = "#d4d4d4"
"""The grey of grid lines."""

_DPI = 200

_HOUSE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.titlesize": 8.5,
    "figure.titlesize": 9.5,
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "quantshift",
    "text.color": INK,
    "xtick.color": INK,
    "xtick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.color": INK,
    "ytick.labelsize": 7,
    "ytick.major.width": 0.6,
}

_SMALLEST = 4.0
"""The smallest font size in points, however long a name is."""

_FONT = FontProperties(family="DejaVu Sans")

_CANVASES = {"pdf": FigureCanvasPdf, "png": FigureCanvasAgg, "svg": FigureCanvasSVG}

_UNDATED: dict[str, dict[str, str | None]] = {
    "pdf": {"Creator": "quantshift", "Producer": None, "CreationDate": None},
    "png": {"Software": None},
    "svg": {"Creator": "quantshift", "Date": None},
}


def house_style() -> AbstractContextManager[None]:
    """A context with the settings of all figures, which restores the previous settings."""
    return matplotlib.style.context(["default", _HOUSE])


def blank(height: float) -> Figure:
    """An empty figure as wide as the text, height in inches; no labels are cut off."""
    layout = ConstrainedLayoutEngine(w_pad=0.04, h_pad=0.04, wspace=0.02, hspace=0.03)
    return Figure(figsize=(TEXT_WIDTH, height), layout=layout)


@cache
def text_width(text: str, size: float) -> float:
    """The width of a line of text in inches, at a size in points."""
    path = TextPath((0, 0), readable(text), size=10, prop=_FONT)
    return float(path.get_extents().width) * size / 720 if len(path.vertices) else 0.0


def fitted_size(text: str, size: float, width: float) -> float:
    """The size in points, reduced if needed so that the text is at most `width` inches wide."""
    needed = text_width(text.replace("$", "\\$"), size)
    return size if needed <= width else max(_SMALLEST, size * width / needed)


def readable(text: str) -> str:
    """The text if its mathematics can be drawn, otherwise with its dollar signs escaped.

    >>> readable("$p_U$"), readable("$\\\\nonsense$")
    ('$p_U$', '\\\\$\\\\nonsense\\\\$')
    """
    try:
        MathTextParser("path").parse(text)
    except ValueError:
        return text.replace("$", r"\$")
    return text


def save_figure(
    figure: Figure, folder: Path, name: str, *, formats: Sequence[str] = ("pdf", "svg", "png")
) -> list[Path]:
    """Write the figure once per format and return the paths, in the order of the formats.

    The first call fixes the layout of the figure, so that later calls write the same bytes.
    """
    for kind in formats:
        if kind not in _UNDATED:
            raise unknown_name("figure format", kind, _UNDATED)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{kind}" for kind in formats]
    with house_style():
        # Laid out only once: a second layout would start from the first and differ slightly.
        layout = figure.get_layout_engine()
        if layout is not None:
            layout.execute(figure)
            figure.set_layout_engine("none")
        for kind, path in zip(formats, paths, strict=True):
            figure.set_dpi(_DPI)
            _write(figure, path, kind)
    return paths


def _write(figure: Figure, path: Path, kind: str) -> None:
    """Write with the canvas of the format; `savefig` would draw again to compute a layout."""
    canvas: Any = _CANVASES[kind](figure)
    write = getattr(canvas, f"print_{kind}")
    write(path, metadata=_UNDATED[kind])
