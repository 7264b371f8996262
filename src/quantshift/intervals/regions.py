"""Regions for the prevalences of several classes at once, from replicates of an estimate.

Four kinds, all functions of replicates (n_replicates, n_classes):

    "box"       percentiles of each class, at 1 - (1 - level) / n_classes with more than two classes
                (Bonferroni), so that all are within theirs with probability `level` at least
    "ellipse"   the points whose Mahalanobis distance from the replicates' mean is below the
                quantile of chi-square with n_classes - 1 degrees of freedom
    "clr"       such an ellipse of centred log-ratios: it stays on the simplex
    "ilr"       the same of isometric log-ratios; equal to "clr" except for rounding

An ellipse takes the replicates to be normal, which they are not near the border of the simplex.
There log-ratios are dominated by the shares that are zero except for `FLOOR`: with estimates at 0,
the log-ratio regions are wide in that direction and mean little.

The replicates of `predict_interval` scatter about the estimate as the estimate does about the
truth, or are draws of a posterior, and either makes a region. Their mean may be b away from the
prevalence that they were drawn at. `predict_region` puts the estimate in the middle of a box or an
ellipse and counts b as an error to either side (`with_bias`), so that the covariance grows by b b'.
Intervals do the same unless b is large, and then move; in several dimensions that made things worse
near the border, where clipping turns the direction of b. Log-ratio regions are of the replicates as
they are.

References: A. Moreo and N. Salvati, "An efficient method for deriving confidence intervals in
aggregative quantification", LQ 2025; J. Aitchison, "The Statistical Analysis of Compositional
Data", 1986.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.linalg import helmert

from quantshift.base.domains import check_value
from quantshift.base.seeding import generator
from quantshift.base.types import Prevalences, Reals
from quantshift.errors import DataError, check_level
from quantshift.intervals.prediction import MOST_SHOWN, PrevalenceInterval
from quantshift.prevalence import simplex

RegionKind: TypeAlias = Literal["ellipse", "box", "clr", "ilr"]

FLOOR = 1e-12
"""Added to shares before their logarithm."""

LEAST_SPREAD = 1e-9
"""Replicates that do not vary in a direction, such as a share that is always zero, count as varying
by this: the ellipse is flat there, and does not extend without end."""

ROUNDING = 1e-12
"""A share that is beyond a limit by less counts as within."""

N_POINTS = 10_000
"""Points of the simplex used to estimate the share that a region covers; seed 0."""


@dataclass(frozen=True, eq=False, repr=False)
class Region:
    """A region of the simplex, in which the shares of all classes are at once.

    Attributes
    ----------
    kind : {"ellipse", "box", "clr", "ilr"}
        Its form.
    level : float
        Confidence level.
    centre : array of shape (n_classes,)
        Mean of the replicates.
    low, high : arrays of shape (n_classes,)
        Least and largest share of each class in a box; 0 and 1 for an ellipse.
    middle, precision, most
        Of an ellipse: its middle and precision, in its coordinates, and its largest squared
        distance.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift import PACC
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> PACC().fit(X, y).predict_region(X[100:250], kind="box", n_bootstrap=200)
    Region('box', centre=[0.696, 0.304], level=0.95)
    """

    kind: str
    level: float
    centre: Prevalences
    low: Reals
    high: Reals
    middle: Reals
    precision: Reals
    most: float

    def __repr__(self) -> str:
        """One line: its form, level and centre."""
        centre = ", ".join(f"{share:.3f}" for share in self.centre[:MOST_SHOWN])
        more = ", ..." if len(self.centre) > MOST_SHOWN else ""
        return f"Region({self.kind!r}, centre=[{centre}{more}], level={self.level:g})"

    def _repr_html_(self) -> str:
        """A table with the centre and, of a box, the limits, as notebooks show it."""
        columns = [("class", [str(k) for k in range(len(self.centre))])]
        parts = [("centre", self.centre)]
        if self.kind == "box":
            parts += [("low", self.low), ("high", self.high)]
        columns += [(name, [f"{100 * share:.1f}%" for share in shares]) for name, shares in parts]
        head = "".join(f"<th>{name}</th>" for name, _ in columns)
        rows = zip(*(cells[:MOST_SHOWN] for _, cells in columns), strict=True)
        body = "".join(
            "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows
        )
        caption = f"{self.kind} region, {self.level:.0%}"
        return f"<table><caption>{caption}</caption><tr>{head}</tr>{body}</table>"

    def contains(self, p: ArrayLike) -> NDArray[np.bool_]:
        """Whether the region contains prevalences (..., n_classes); shape (...).

        Parameters
        ----------
        p : array of shape (..., n_classes)
            Prevalences.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PACC
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> region = PACC().fit(X, y).predict_region(X[100:250], n_bootstrap=200)
        >>> region.contains([2 / 3, 1 / 3]), region.contains([0.1, 0.9])
        (array(True), array(False))
        """
        points = np.asarray(p, dtype=np.float64)
        if points.shape[-1] != len(self.centre):
            raise DataError(
                f"prevalences of shape {points.shape} do not fit {len(self.centre)} classes"
            )
        if self.kind == "box":
            low, high = self.low - ROUNDING, self.high + ROUNDING
            return np.asarray(((low <= points) & (points <= high)).all(axis=-1))
        away = _coordinates(points, self.kind) - self.middle
        return np.asarray((away @ self.precision * away).sum(axis=-1) <= self.most)

    def simplex_share(self) -> float:
        """The part of the simplex that the region covers, by uniform points.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PACC
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> fitted = PACC().fit(X, y)
        >>> wide, narrow = (fitted.predict_region(X[::k], n_bootstrap=200) for k in (10, 1))
        >>> wide.simplex_share() > narrow.simplex_share()
        True
        """
        rng = generator(0, purpose="share of the simplex", n_classes=len(self.centre))
        return float(self.contains(simplex.uniform(N_POINTS, len(self.centre), rng)).mean())


def region(replicates: ArrayLike, *, kind: RegionKind = "ellipse", level: float = 0.95) -> Region:
    """The region of replicates (n_replicates, n_classes), as `predict_interval` has them."""
    values = np.asarray(replicates, dtype=np.float64)
    check_value("kind", kind, RegionKind, of="a region")
    check_level(level, "a region")
    if values.ndim != 2 or len(values) < 2 or values.shape[1] < 2:
        raise DataError(
            f"a region needs at least 2 replicates (n_replicates, n_classes), got {values.shape}"
        )
    n_classes, centre = values.shape[1], values.mean(axis=0)
    if kind == "box":
        miss = (1 - level) / (n_classes if n_classes > 2 else 1)
        low, high = np.quantile(values, [miss / 2, 1 - miss / 2], axis=0)
        return Region(kind, level, centre, low, high, np.empty(0), np.empty((0, 0)), 0.0)
    points = _coordinates(values, kind)
    covariance = np.atleast_2d(np.cov(points, rowvar=False))
    return Region(
        kind,
        level,
        centre,
        np.zeros(n_classes),
        np.ones(n_classes),
        points.mean(axis=0),
        _inverse(covariance, kind),
        float(stats.chi2.ppf(level, n_classes - 1)),
    )


def with_bias(replicates: Prevalences, p_hat: Prevalences, bias: Reals) -> Reals:
    """Replicates about the estimate, not their mean, plus the bias and less the bias in turns.

    replicates: (n_replicates, n_classes); p_hat, bias: (n_classes,). The result need not be on the
    simplex; its covariance is that of the replicates and bias times bias.
    """
    either = np.where(np.arange(len(replicates)) % 2, -1.0, 1.0)
    either -= either.mean()
    return np.asarray(replicates - replicates.mean(axis=0) + p_hat + either[:, np.newaxis] * bias)


def region_of(
    interval: PrevalenceInterval, *, kind: RegionKind = "ellipse"
) -> Region | list[Region]:
    """The region of what `predict_interval` returned; of each sample if there are several.

    Parameters
    ----------
    interval : PrevalenceInterval
        What `predict_interval` has returned.
    kind : {"ellipse", "box", "clr", "ilr"}
        The form of the region.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift import PACC
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> from quantshift.intervals import region_of
    >>> interval = PACC().fit(X, y).predict_interval(X[100:250], n_bootstrap=200)
    >>> region_of(interval, kind="box")
    Region('box', centre=[0.696, 0.304], level=0.95)
    """
    parts = (interval.replicates, interval.prevalence, interval.bias)
    if interval.replicates.ndim == 2:
        return _of_one(*parts, kind, interval.level)
    return [_of_one(*sample, kind, interval.level) for sample in zip(*parts, strict=True)]


def _of_one(
    replicates: Prevalences, p_hat: Prevalences, bias: Reals, kind: RegionKind, level: float
) -> Region:
    if kind in ("box", "ellipse"):
        replicates = with_bias(replicates, p_hat, bias)
    return region(replicates, kind=kind, level=level)


def _inverse(covariance: Reals, kind: str) -> Reals:
    """The inverse of a covariance, along the directions in which points of the simplex differ."""
    # Shares and centred log-ratios have a constant sum.
    basis = np.eye(len(covariance)) if kind == "ilr" else helmert(len(covariance))
    variances, directions = np.linalg.eigh(basis @ covariance @ basis.T)
    axes = directions.T @ basis
    return np.asarray((axes.T / np.maximum(variances, LEAST_SPREAD**2)) @ axes)


def _coordinates(p: Prevalences, kind: str) -> Reals:
    """Shares, or their log-ratios."""
    if kind == "ellipse":
        return p
    logs = np.log((p + FLOOR) / (1 + p.shape[-1] * FLOOR))
    if kind == "ilr":
        return np.asarray(logs @ helmert(p.shape[-1]).T)
    return np.asarray(logs - logs.mean(axis=-1, keepdims=True))
