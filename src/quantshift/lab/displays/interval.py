"""Intervals of shares, class by class or sample by sample."""

from typing import Annotated, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from quantshift.base.domains import Such, check_value
from quantshift.base.types import Reals
from quantshift.errors import DataError
from quantshift.intervals.prediction import PrevalenceInterval
from quantshift.items.samples import Samples
from quantshift.lab.displays.display import Display
from quantshift.lab.displays.estimates import class_position
from quantshift.lab.shifts.protocol import AbstractProtocol
from quantshift.quantifiers.base.given import given_quantifier

Drawn: TypeAlias = Annotated[
    PrevalenceInterval,
    Such("what predict_interval returns", lambda value: isinstance(value, PrevalenceInterval)),
]


class IntervalDisplay(Display):
    """Estimates with their limits: a bar for each class of a sample, or for each of many samples.

    It is made by `from_estimator`, `from_protocol` or `from_predictions`.

    Parameters
    ----------
    interval : PrevalenceInterval
        What `predict_interval` returned.
    p_true : array, optional
        True shares, of the shape of the estimates. Intervals that miss theirs are drawn in red.
    label : class label, optional
        The class that is shown of several samples; by default the last.
    name : str
        What is shown, for the title.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift import PACC, IntervalDisplay
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> display = IntervalDisplay.from_estimator(PACC().fit(X, y), X[100:250], n_bootstrap=200)
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['ham', 'spam']
    """

    def __init__(
        self,
        interval: PrevalenceInterval,
        p_true: ArrayLike | None = None,
        *,
        label: Any = None,
        name: str = "",
    ) -> None:
        check_value("interval", interval, Drawn, of="IntervalDisplay")
        self.interval = interval
        self.p_true = p_true
        self.label = label
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        quantifier: Any,
        X: Any,
        samples: Samples | None = None,
        *,
        label: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the intervals of a fitted quantifier.

        Parameters
        ----------
        quantifier : fitted quantifier
        X, samples
            As in `predict_interval`.
        label : class label, optional
            The class that is shown of several samples.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        **options
            Of `predict_interval`.
        """
        fitted = given_quantifier(quantifier, cls.__name__)
        interval = fitted.predict_interval(X, samples, **options)
        return cls(interval, label=label, name=type(fitted).__name__).plot(ax)

    @classmethod
    def from_protocol(
        cls,
        quantifier: Any,
        protocol: AbstractProtocol,
        X: Any,
        y: Any,
        *,
        label: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """The same for the samples that a protocol draws, with their true shares."""
        fitted = given_quantifier(quantifier, cls.__name__)
        draws = list(protocol.samples(y))
        p_true = np.stack([draw.true_prevalence(fitted.classes_) for draw in draws])
        interval = fitted.predict_interval(X, [draw.indices for draw in draws], **options)
        return cls(interval, p_true, label=label, name=type(fitted).__name__).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        interval: PrevalenceInterval,
        p_true: ArrayLike | None = None,
        *,
        label: Any = None,
        name: str = "",
        ax: Any = None,
    ) -> Self:
        """The same for what `predict_interval` has returned."""
        return cls(interval, p_true, label=label, name=name).plot(ax)

    def plot(self, ax: Any = None, *, colour: str = "#1f77b4") -> Self:
        """Draw it: estimates as dots, true shares as ticks, samples in the order of the truth."""
        classes = tuple(self.interval.classes.tolist())
        several = self.interval.prevalence.ndim > 1
        column = class_position(classes, self.label)
        p_hat, low, high, truth = (
            values[:, column] if several else values for values in self._checked()
        )
        missed = (truth < low) | (truth > high)
        order = np.argsort(truth if several else np.zeros(len(truth)), kind="stable")
        axes = self._drawn_on(ax)
        rows = np.arange(len(order))
        colours = np.where(missed[order], "#c1272d", colour).tolist()
        axes.hlines(rows, low[order], high[order], colors=colours, linewidth=4, alpha=0.4)
        axes.scatter(p_hat[order], rows, c=colours, s=14, zorder=3)
        axes.scatter(truth[order], rows, marker="|", c="#222222", s=40, zorder=4)
        axes.set(xlim=(0, 1), ylim=(len(rows) - 0.5, -0.5))
        what = "share of each class"
        if several:
            what = f"share of {classes[column]}"
            axes.set_ylabel("samples")
            axes.set_yticks([])
        else:
            axes.set_yticks(rows, [str(label) for label in classes], parse_math=False)
        axes.set_xlabel(f"{what}, {self.interval.level:.0%} intervals", parse_math=False)
        known = ~np.isnan(truth)
        within = f"{(known & ~missed).sum()} of {known.sum()} intervals contain the true share"
        axes.set_title(": ".join(filter(None, [self.name, within if known.any() else ""])))
        return self

    def _checked(self) -> tuple[Reals, Reals, Reals, Reals]:
        """Estimates, limits and true shares; these are NaN if they are not known."""
        p_hat, low, high = self.interval.prevalence, self.interval.low, self.interval.high
        if self.p_true is None:
            return p_hat, low, high, np.full(p_hat.shape, np.nan)
        truth = np.asarray(self.p_true, dtype=np.float64)
        if truth.shape != p_hat.shape:
            raise DataError(f"p_true of shape {truth.shape} does not fit {p_hat.shape} estimates")
        return p_hat, low, high, truth
