"""What all displays share: an Axes to draw on, and a picture in notebooks."""

import io
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from numpy.typing import ArrayLike

from quantshift.base.imports import extra_needed
from quantshift.lab.displays.estimates import Estimates
from quantshift.lab.shifts.protocol import AbstractProtocol
from quantshift.quantifiers.base.given import given_quantifier

SIZE = (5.0, 4.0)
"""Of a new figure, in inches."""


class Display:
    """A display that `plot` draws.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What it was drawn on last.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    """

    ax_: Any
    figure_: Any

    def _drawn_on(self, ax: Any) -> Any:
        """The axes to draw on: those given, or those of a new figure."""
        if ax is None:
            with extra_needed("plots"):
                from matplotlib.figure import Figure
            # Not created by pyplot, so that it need not be closed.
            ax = Figure(figsize=SIZE, layout="constrained").subplots()
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _repr_png_(self) -> bytes | None:
        """The picture, as notebooks show it."""
        if not hasattr(self, "figure_"):
            return None
        picture = io.BytesIO()
        self.figure_.savefig(picture, format="png", dpi=100)
        return picture.getvalue()


class SamplesDisplay(Display):
    """A display of estimates of many samples whose prevalences are known.

    The options of a display are `label`, the class that is shown (by default the last), or `error`.
    """

    @classmethod
    def from_estimator(
        cls,
        quantifier: Any,
        X: Any,
        y: Any,
        *,
        random_state: int = 0,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a fitted quantifier on samples of labelled items that it was not fitted on.

        Parameters
        ----------
        quantifier : fitted quantifier
        X, y : items and labels
            Samples of 100 of them are drawn, with shares on a grid (two classes) or uniform on the
            simplex. The degree of shift is the share of the second class minus that in training, or
            the total variation distance from the shares in training, to one decimal.
        random_state : int
            Seed of the samples.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        **options
            `label` or `error`, whichever the display has.
        """
        fitted = given_quantifier(quantifier, cls.__name__)
        return cls._of(Estimates.of_estimator(fitted, X, y, random_state), ax, **options)

    @classmethod
    def from_protocol(
        cls,
        quantifier: Any,
        protocol: AbstractProtocol,
        X: Any,
        y: Any,
        *,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """The same on the samples that a protocol draws, with its degrees of shift."""
        fitted = given_quantifier(quantifier, cls.__name__)
        return cls._of(Estimates.of_protocol(fitted, protocol, X, y), ax, **options)

    @classmethod
    def from_predictions(
        cls,
        p_true: ArrayLike,
        p_hat: ArrayLike,
        *,
        degree: ArrayLike | None = None,
        classes: Sequence[Any] | None = None,
        name: str = "",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """The same for estimates made before, of any library.

        Parameters
        ----------
        p_true, p_hat : arrays
            Shares of the second of two classes, or of all classes, (n_samples, n_classes).
        degree : array of shape (n_samples,), optional
            Degrees of shift; by default all samples have the same.
        classes : sequence, optional
            The labels of the classes.
        name : str
            What is shown.
        ax, **options
            As in `from_estimator`.
        """
        estimates = Estimates.of_predictions(
            p_true, p_hat, degree=degree, classes=classes, name=name
        )
        return cls._of(estimates, ax, **options)

    @classmethod
    @abstractmethod
    def _of(cls, estimates: Estimates, ax: Any) -> Self:
        """The display of these estimates, drawn."""
