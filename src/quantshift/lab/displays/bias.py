"""The direction of errors: boxes of signed errors by degree of shift."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import polars as pl

from quantshift.lab.analysis.summary import box_numbers
from quantshift.lab.displays.display import SamplesDisplay
from quantshift.lab.displays.estimates import Estimates


class BiasDisplay(SamplesDisplay):
    """Signed errors of a class by degree of shift: a box above zero means an overestimate.

    It is made by `from_estimator`, `from_protocol` or `from_predictions`.

    Parameters
    ----------
    boxes : polars.DataFrame
        A row for each degree: quartiles, whiskers, mean, lowest and highest error.
    name : str
        What is shown, for the title.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift import CC, BiasDisplay
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(1.0 * (y == "spam"))[:, np.newaxis]
    >>> boxes = BiasDisplay.from_estimator(CC().fit(X, y), X, y).boxes
    >>> bool(boxes["mean"][0] > 0.2), bool(boxes["mean"][-1] < -0.2)  # towards the training share
    (True, True)
    """

    def __init__(self, boxes: pl.DataFrame, name: str = "", *, label: Any = None) -> None:
        self.boxes = boxes
        self.name = name
        self.label = label

    @classmethod
    def _of(cls, estimates: Estimates, ax: Any, *, label: Any = None) -> Self:
        column = estimates.column(label)
        error = estimates.p_hat[:, column] - estimates.p_true[:, column]
        rows = pl.DataFrame({"degree": estimates.degree, "error": error, "signed": error})
        display = cls(
            box_numbers(rows.fill_nan(None), ["degree"]),
            estimates.name,
            label=estimates.classes[column],
        )
        display.plot(ax)
        return display

    @property
    def largest(self) -> float:
        """The largest error, whatever its sign."""
        ends = self.boxes.select("lowest", "highest").to_numpy()
        return float(np.abs(ends).max())

    def plot(
        self,
        ax: Any = None,
        *,
        colour: str = "#1f77b4",
        degrees: Sequence[float] | None = None,
        decorated: bool = True,
    ) -> Self:
        """Draw it.

        degrees: those of the axis, if there are more than the boxes have. decorated: with the names
        of the axes, a scale and a legend.
        """
        axes = self._drawn_on(ax)
        from quantshift.lab.displays.drawing import boxes
        from quantshift.lab.displays.drawing.ink import INK

        shown = self.boxes["degree"].to_list() if degrees is None else degrees
        axes.axhline(0, color=INK, linewidth=0.6)
        boxes.degree_ticks(axes, shown)
        boxes.draw_boxes(axes, self.boxes, shown, colour=colour)
        if decorated:
            reach = 1.05 * self.largest or 1.0
            boxes.share_scale(axes, shown, (-reach, reach))
            axes.set_xlabel("degree of shift")
            axes.set_ylabel(f"signed error of {self.label}", parse_math=False)
            axes.set_title(self.name, parse_math=False)
            axes.legend(handles=boxes.box_legend(), frameon=False)
        return self
