"""Regions of the shares of three classes on a triangle, or of two classes on a line."""

from collections.abc import Sequence
from typing import Annotated, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from quantshift.base.domains import Such, check_value
from quantshift.base.types import Prevalences, Reals
from quantshift.errors import DataError, UserError
from quantshift.intervals.regions import Region, RegionKind
from quantshift.items.samples import Samples
from quantshift.lab.displays.display import Display
from quantshift.lab.shifts.protocol import AbstractProtocol
from quantshift.quantifiers.base.given import given_quantifier

_STEPS = 250
"""Of a grid over the shares of a class, on which regions are drawn."""

_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])


def _are_regions(value: Any) -> bool:
    return isinstance(value, Region) or (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(one, Region) for one in value)
    )


Drawn: TypeAlias = Annotated[
    Region | Sequence[Region], Such("what predict_region returns", _are_regions)
]


class RegionDisplay(Display):
    """Where the shares of all classes are at once: with three classes on a triangle.

    It is made by `from_estimator`, `from_protocol` or `from_predictions`.

    Parameters
    ----------
    regions : Region or list of Region
        What `predict_region` returned, of two or three classes.
    p_true : array, optional
        True shares, (n_classes,) or (n_regions, n_classes). Regions without theirs are red.
    classes : sequence, optional
        The labels of the classes.
    name : str
        What is shown, for the title.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift import PACC, RegionDisplay
    >>> y = np.repeat(["bad", "good", "so so"], 100)
    >>> X = np.random.default_rng(0).normal(3.0 * np.eye(3)[np.arange(300) // 100])
    >>> display = RegionDisplay.from_estimator(PACC().fit(X, y), X[50:200], n_bootstrap=200)
    >>> len(display.regions), display.classes
    (1, ('bad', 'good', 'so so'))
    """

    def __init__(
        self,
        regions: Region | Sequence[Region],
        p_true: ArrayLike | None = None,
        *,
        classes: Sequence[Any] | None = None,
        name: str = "",
    ) -> None:
        check_value("regions", regions, Drawn, of="RegionDisplay")
        self.regions = [regions] if isinstance(regions, Region) else list(regions)
        self.p_true = None if p_true is None else np.atleast_2d(np.asarray(p_true, np.float64))
        n_classes = len(self.regions[0].centre)
        self.classes = tuple(range(n_classes)) if classes is None else tuple(classes)
        self.name = name
        if self.p_true is not None and self.p_true.shape != (len(self.regions), n_classes):
            raise DataError(
                f"p_true of shape {self.p_true.shape} does not fit {len(self.regions)} regions of "
                f"{n_classes} classes"
            )
        if n_classes > 3:
            raise UserError(
                f"a region of {n_classes} classes cannot be drawn; IntervalDisplay shows the "
                "limits of each"
            )

    @classmethod
    def from_estimator(
        cls,
        quantifier: Any,
        X: Any,
        samples: Samples | None = None,
        *,
        kind: RegionKind = "ellipse",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the regions of a fitted quantifier.

        Parameters
        ----------
        quantifier : fitted quantifier
        X, samples, kind
            As in `predict_region`.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        **options
            Of `predict_region`.
        """
        fitted = given_quantifier(quantifier, cls.__name__)
        regions = fitted.predict_region(X, samples, kind=kind, **options)
        name, classes = type(fitted).__name__, fitted.classes_.tolist()
        return cls(regions, classes=classes, name=name).plot(ax)

    @classmethod
    def from_protocol(
        cls,
        quantifier: Any,
        protocol: AbstractProtocol,
        X: Any,
        y: Any,
        *,
        kind: RegionKind = "ellipse",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """The same for the samples that a protocol draws, with their true shares."""
        fitted = given_quantifier(quantifier, cls.__name__)
        draws = list(protocol.samples(y))
        p_true = np.stack([draw.true_prevalence(fitted.classes_) for draw in draws])
        samples = [draw.indices for draw in draws]
        regions = fitted.predict_region(X, samples, kind=kind, **options)
        name, classes = type(fitted).__name__, fitted.classes_.tolist()
        return cls(regions, p_true, classes=classes, name=name).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        regions: Region | Sequence[Region],
        p_true: ArrayLike | None = None,
        *,
        classes: Sequence[Any] | None = None,
        name: str = "",
        ax: Any = None,
    ) -> Self:
        """The same for what `predict_region` has returned."""
        return cls(regions, p_true, classes=classes, name=name).plot(ax)

    def plot(self, ax: Any = None, *, colour: str = "#1f77b4") -> Self:
        """Draw it: centres as dots, true shares as crosses."""
        axes = self._drawn_on(ax)
        grid = _grid(len(self.classes))
        places = _places(grid)
        for number, region in enumerate(self.regions):
            truth = None if self.p_true is None else self.p_true[number]
            contains = truth is None or bool(region.contains(truth))
            drawn = colour if contains else "#c1272d"
            inside = region.contains(grid)
            if len(self.classes) == 2:
                # A region may lie between two points of the grid.
                shares = np.append(grid[inside, 1], region.centre[1])
                axes.hlines(number, shares.min(), shares.max(), color=drawn, linewidth=4, alpha=0.4)
            elif inside.any():
                axes.tricontourf(
                    *places.T, inside.astype(float), levels=[0.5, 1.5], colors=[drawn], alpha=0.35
                )
            for point, marker in ((region.centre, "o"), (truth, "x")):
                if point is not None:
                    x, height = _places(np.asarray(point)[np.newaxis])[0]
                    y = number if len(self.classes) == 2 else height
                    axes.plot(x, y, marker, color="#222222" if marker == "x" else drawn, ms=4)
        self._decorate(axes)
        return self

    def _decorate(self, axes: Any) -> None:
        names = [str(label) for label in self.classes]
        if len(names) == 2:
            axes.set(xlim=(0, 1), ylim=(len(self.regions) - 0.5, -0.5), yticks=[])
            axes.set_xlabel(f"share of {names[1]}", parse_math=False)
        else:
            edge = np.vstack([_CORNERS, _CORNERS[:1]])
            axes.plot(*edge.T, color="#222222", linewidth=0.8)
            for share in (0.25, 0.5, 0.75):
                for k in range(3):
                    ends = share * _CORNERS[k] + (1 - share) * np.delete(_CORNERS, k, axis=0)
                    axes.plot(*ends.T, color="#d4d4d4", linewidth=0.5, zorder=0)
            for (x, y), name, where in zip(_CORNERS, names, ("top", "top", "bottom"), strict=True):
                axes.text(x, y, f" {name} ", ha="center", va=where, parse_math=False)
            axes.set(xlim=(-0.1, 1.1), ylim=(-0.08, 0.98))
            axes.set_aspect("equal")
            axes.set_axis_off()
        level = f"{self.regions[0].level:.0%} region" + ("s" if len(self.regions) > 1 else "")
        axes.set_title(": ".join(filter(None, [self.name, level])), parse_math=False)


def _grid(n_classes: int) -> Prevalences:
    """Points all over the simplex."""
    steps = np.arange(_STEPS + 1) / _STEPS
    if n_classes == 2:
        return np.stack([1 - steps, steps], axis=1)
    first, second = np.meshgrid(steps, steps, indexing="ij")
    within = first + second <= 1 + 1e-9
    a, b = first[within], second[within]
    return np.stack([a, b, np.clip(1 - a - b, 0.0, 1.0)], axis=1)


def _places(p: Prevalences) -> Reals:
    """Where prevalences are on the triangle, or on the line."""
    if p.shape[1] == 2:
        return np.stack([p[:, 1], np.zeros(len(p))], axis=1)
    return np.asarray(p @ _CORNERS)
