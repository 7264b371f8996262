"""Mean error by degree of shift, with limits of the mean."""

from typing import Any, Self

import polars as pl

from quantshift import metrics
from quantshift.lab.displays.display import SamplesDisplay
from quantshift.lab.displays.estimates import SIZE, Estimates

_NORMAL = 1.959963984540054


class ErrorByShiftDisplay(SamplesDisplay):
    """Mean error of a quantifier by degree of shift; several can be drawn on the same axes.

    It is made by `from_estimator`, `from_protocol` or `from_predictions`.

    Parameters
    ----------
    means : polars.DataFrame
        A row for each degree: the mean error, and its 95% limits (`low`, `high`).
    name : str
        What is shown, for the legend.
    error : str
        The measure, for the name of the axis.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift import CC, PACC, ErrorByShiftDisplay
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(1.0 * (y == "spam"))[:, np.newaxis]
    >>> display = ErrorByShiftDisplay.from_estimator(CC().fit(X, y), X, y)
    >>> other = ErrorByShiftDisplay.from_estimator(PACC().fit(X, y), X, y, ax=display.ax_)
    >>> [text.get_text() for text in other.ax_.get_legend().get_texts()]
    ['CC', 'PACC']
    """

    def __init__(self, means: pl.DataFrame, name: str = "", *, error: str = "ae") -> None:
        self.means = means
        self.name = name
        self.error = error

    @classmethod
    def _of(cls, estimates: Estimates, ax: Any, *, error: str = "ae") -> Self:
        values = metrics.measure(error, estimates.p_true, estimates.p_hat, smoothing=1 / (2 * SIZE))
        rows = pl.DataFrame({"degree": estimates.degree, "error": values}).filter(
            pl.col("degree").is_not_nan()
        )
        column = pl.col("error")
        half = _NORMAL * column.std() / pl.len().sqrt()
        means = (
            rows.group_by("degree")
            .agg(mean=column.mean(), low=column.mean() - half, high=column.mean() + half)
            .sort("degree")
        )
        display = cls(means, estimates.name, error=error)
        display.plot(ax)
        return display

    def plot(
        self, ax: Any = None, *, colour: str | None = None, decorated: bool = True, **look: Any
    ) -> Self:
        """Draw it; more arguments are for the line. decorated: with names of axes and legend."""
        axes = self._drawn_on(ax)
        degree, mean, low, high = (
            self.means[name].cast(pl.Float64).to_numpy()
            for name in ("degree", "mean", "low", "high")
        )
        style = {"color": colour, "linewidth": 1.2, "marker": "o", "markersize": 3.5, **look}
        (line,) = axes.plot(degree, mean, label=self.name, **style)
        axes.vlines(degree, low, high, color=line.get_color(), linewidth=0.9)
        if decorated:
            axes.set_xlabel("degree of shift")
            axes.set_ylabel(f"mean {metrics.measure_called(self.error).title}, 95% limits")
            axes.set_ylim(bottom=0)
            axes.grid(axis="y", linewidth=0.5)
            if axes.get_legend_handles_labels()[1]:
                for text in axes.legend(frameon=False).get_texts():
                    text.set_parse_math(False)
        return self
