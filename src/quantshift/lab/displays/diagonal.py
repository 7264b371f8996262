"""True against estimated prevalence: an unbiased method follows the diagonal."""

from collections.abc import Sequence
from typing import Any, Self

import polars as pl

from quantshift.lab.displays.display import SamplesDisplay
from quantshift.lab.displays.estimates import Estimates

_MOST_POINTS = 30
_TWENTIETHS = 20


class DiagonalDisplay(SamplesDisplay):
    """Estimates by true prevalence: their mean, middle half and middle 90%.

    It is made by `from_estimator`, `from_protocol` or `from_predictions`.

    Parameters
    ----------
    bands : polars.DataFrame
        A row for each true prevalence: p_true, mean, q5, q25, q75 and q95 of the estimates.
    name : str
        What is shown, for the title.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift import PACC, DiagonalDisplay
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> display = DiagonalDisplay.from_estimator(PACC().fit(X, y), X, y)
    >>> display.bands.height, display.ax_.get_xlabel()
    (21, 'true prevalence of spam')
    """

    def __init__(self, bands: pl.DataFrame, name: str = "", *, label: Any = None) -> None:
        self.bands = bands
        self.name = name
        self.label = label

    @classmethod
    def _of(cls, estimates: Estimates, ax: Any, *, label: Any = None) -> Self:
        column = estimates.column(label)
        rows = pl.DataFrame(
            {"p_true": estimates.p_true[:, column], "p_hat": estimates.p_hat[:, column]}
        )
        display = cls(band_numbers(rows, []), estimates.name, label=estimates.classes[column])
        display.plot(ax)
        return display

    def plot(self, ax: Any = None, *, colour: str = "#1f77b4", decorated: bool = True) -> Self:
        """Draw it. decorated: with diagonal, names of axes and legend."""
        axes = self._drawn_on(ax)
        from quantshift.lab.displays.drawing.bands import band_legend, draw_band, unit_squares

        if decorated:
            unit_squares([axes])
        draw_band(axes, self.bands, colour)
        if decorated:
            axes.set_xlabel(f"true prevalence of {self.label}", parse_math=False)
            axes.set_ylabel(f"estimated prevalence of {self.label}", parse_math=False)
            axes.set_title(self.name, parse_math=False)
            axes.legend(handles=band_legend(colour), frameon=False)
        return self


def band_numbers(rows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Mean and quantiles of `p_hat` per group of `by` and true prevalence, sorted."""
    estimate = pl.col("p_hat")
    return (
        rows.select(*by, "p_hat", p_true=in_groups(rows["p_true"]))
        .group_by(*by, "p_true")
        .agg(
            mean=estimate.mean(),
            **{
                f"q{q}": estimate.quantile(q / 100, interpolation="linear") for q in (5, 25, 75, 95)
            },
        )
        .sort(*by, "p_true")
    )


def in_groups(p_true: pl.Series) -> pl.Series:
    """True prevalences to two decimals or, if there are many, to multiples of 0.05.

    Samples of different sizes cannot all match a grid point exactly.
    """
    points = p_true.round(2) + 0.0
    return (
        points
        if points.n_unique() <= _MOST_POINTS
        else (p_true * _TWENTIETHS).round() / _TWENTIETHS
    )
