"""Intervals for every quantifier: over the sample's items and over the training side.

An estimate errs because the sample is a draw of items and because what the aggregation learnt
(rates, histograms, a calibration) was learnt from a draw of training items. A replicate therefore
draws both: the training items, class by class, whose held-out posteriors the aggregation is fitted
on again (`refit`), and the items of a sample. The classifier itself is taken as it is. Refitting is
the slow part, so that `N_REFITS` training replicates serve all replicates of all samples.

*Two classes.* Methods that adjust for the training classes (all but CC, PCC and MLPE) are asked
what they would estimate on samples whose prevalence is known: samples of the same size, drawn from
the held-out items, at each prevalence of a grid. The interval holds the prevalences at which the
estimate that was found is neither too low nor too high to be expected (J. Neyman, 1937). Whatever
is wrong with a method under prior shift (the noise in histograms, a calibration that does not fit,
clipping at 0 and 1) is wrong with it in those samples too, and is allowed for. An estimate of 0 is
compared with prevalences that would give 0 as well, so the interval has a width.

*More classes.* A grid over all prevalences would be too large. Samples are drawn at the estimate
itself, moved a little away from the border, and the distances of the limits from the estimate are
those of percentiles of the replicates from their mean. If the mean is b above the prevalence that
was drawn, b is treated as one more error, which widens the interval to both sides. It moves the
interval only where it is large compared with the standard error, as in methods that draw shares
together on purpose (MAPLS, RUN). Such limits are as wide as limits moved by all of b with the same
allowance for doubt, and cover more: b is the bias at the estimate instead of at the truth, is not
known exactly, and simulated samples do not show all of it, because chance differences between the
held-out items of two classes are there in both the fit and the sample. A bootstrap also makes too
little of small training sets, and limits are wider by Student's t with degrees of freedom by the
number of training items (Hesterberg, 2015): 1% with 100 items of each class. With n replicates the
percentiles are those between which one more would be, the (n + 1) tail-th from either end.

*Methods that trust the posteriors* (DeBias, LEIP) do not learn what the items of a class look like,
and resampled training items hardly change them. Their error shows in the held-out items alone,
which are a draw as well: the method stays as it is, and the samples of known prevalence are drawn
from the training items of the replicate. With methods that do learn, either way gives the same
limits to the first order.

*Methods that see features* (DMx, EDx, MMDx, HDx) are fitted on the same items that samples of known
prevalence are drawn from. Some recognise them: histograms with more bins than items, or distances
in many dimensions. This is tried out: if estimates on the items of a replicate are better than on
the items that it left out by more than `MEMORY`, the samples are drawn from the latter. These are
about a third of the items, and the intervals are then up to twice as wide as necessary.

*Methods that do not adjust* keep their bias, which no interval shows; theirs are percentiles of
estimates on the resampled items of the sample. *Methods for more than prior shift* (SubclassSLD):
the interval spans the percentiles of resampled items and the prevalences of the grid. *Methods of
other libraries* fit their classifier themselves, and nothing is known of held-out items: theirs are
percentiles of estimates on resampled items by quantifiers fitted again on resampled training items,
which is slow, so that there are few of these (a twentieth of the replicates).

*Methods with a posterior* (BayesianCC, PQ) give draws of it instead of replicates, and the interval
is the middle part of them: a credible interval. The draws of BayesianKDEy come from posteriors
under resampled training items. Resampling adds to them the bias that the estimate has already, so
that they are treated as replicates whose samples were drawn at the estimate.

*Weights.* Items are drawn as if they had none and keep theirs. Samples of known prevalence are
drawn from the training items of a class in proportion to their weights. Where the size of a sample
matters (simulated samples, and the least width) it is Kish's effective size: what the same variance
would take of items of equal weights. Weights that are whole numbers are no exception: as far as
intervals go they say how much an item counts, not how often it was drawn.

No interval is shorter than Wilson's for a sample whose labels are known, whatever its size. If the
held-out posteriors of two classes cannot be distinguished, no sample shows how many items belong to
the one or the other: their intervals go from 0 to all that the two have together, which is 100% if
there are only two. The same holds for a sample whose items all look the same, if those of no
training class do, or whose items the classifier is far surer of than of any in training, as if a
column came in another unit: its intervals go from 0 to 100%. This is checked for methods that count
predictions, too.

*Committees.* A method that averages over the models of the folds (SubclassSLD) uses all of them in
its estimate, but only `MOST_MEMBERS` in a replicate, different ones in each. Models trained on
nearly the same items differ far less than resampled ones, and their differences make the interval
wider, not narrower.

The limits are for the prevalence in the population the sample was drawn from.

*The share among the items themselves* (`of="items"`) is known better, because nothing depends on
which items were drawn. Methods that adjust are tried on simulated samples with exactly known
shares, in place of samples drawn at a known prevalence. For methods beyond prior shift the limits
also span draws of the items' labels given their posteriors (`quantshift.intervals.predictive`);
other methods, and those with a posterior, have these draws alone. No limit is beyond that of the
population.

What no replicate can show: held-out posteriors come from models trained on 1 - 1/cv of the items,
which are a little worse than the one that scores the sample. With cv=5 this biases the rates of
PACC by more than the interval allows for; cv=20 is enough for 5,000 training items.

References: J. Neyman, "Outline of a theory of statistical estimation based on the classical theory
of probability", Phil. Trans. A 236 (1937); B. Efron and R. Tibshirani, "An Introduction to the
Bootstrap", 1993, ch. 10 and 13; L. Brown, T. Cai and A. DasGupta, "Interval estimation for a
binomial proportion", Statistical Science 16 (2001); T. Hesterberg, "What teachers should know about
the bootstrap", The American Statistician 69 (2015).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quantshift.base.domains import Seed, check_value
from quantshift.base.types import Indices, Prevalences, Reals
from quantshift.intervals.fitted import Fitted
from quantshift.intervals.limits import limits as limits
from quantshift.intervals.limits import stretched as stretched
from quantshift.intervals.replicates import Replicates as Replicates
from quantshift.intervals.targets import POPULATION
from quantshift.items.items import Items
from quantshift.items.samples import PADDING, Samples
from quantshift.prevalence.bounded import BoundedShares

if TYPE_CHECKING:
    import polars as pl

MOST_SHOWN = 10
"""Classes that an interval shows of itself."""


@dataclass(frozen=True, repr=False)
class PrevalenceInterval(BoundedShares):
    """An estimate between two limits, class by class.

    Attributes
    ----------
    prevalence, low, high : arrays of shape (..., n_classes)
        In the order of `classes`; the first axis is that of samples, if there are several.
    classes : array of shape (n_classes,)
        The labels of the classes.
    level : float
        Confidence level.
    simultaneous : bool
        Whether all classes are within their limits at once with probability `level`; otherwise each
        class is, on its own.
    informative : array of shape (..., n_classes)
        Whether the posteriors separate a class from every other. Where they do not, the limits are
        as wide as they can be.
    replicates : array of shape (..., n_bootstrap, n_classes)
        The bootstrap's estimates, or draws of a posterior.
    bias : array of shape (..., n_classes)
        Their mean minus the prevalence that they were drawn at.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift import PACC
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> interval = PACC().fit(X, y).predict_interval(X[100:250], n_bootstrap=200)
    >>> interval
    PrevalenceInterval(ham: 69.6% (60.7 to 77.1), spam: 30.4% (22.9 to 39.3); level=0.95)
    >>> interval.width.round(2)
    array([0.16, 0.16])
    >>> interval.to_frame().columns
    ['sample', 'class', 'share', 'low', 'high']
    """

    level: float
    classes: NDArray[Any]
    replicates: Prevalences
    simultaneous: bool
    informative: NDArray[np.bool_]
    bias: Reals

    def __repr__(self) -> str:
        """One line: a share and its limits for each class, or how many samples there are."""
        if self.prevalence.ndim > 1:
            return (
                f"PrevalenceInterval({len(self.prevalence)} samples, {len(self.classes)} classes; "
                f"level={self.level:g})"
            )
        shown = ", ".join(
            f"{label}: {100 * p:.1f}% ({100 * low:.1f} to {100 * high:.1f})"
            for label, p, low, high in self._rows()
        )
        more = ", ..." if len(self.classes) > MOST_SHOWN else ""
        return f"PrevalenceInterval({shown}{more}; level={self.level:g})"

    def _repr_html_(self) -> str:
        """A table of shares and limits, as notebooks show it."""
        if self.prevalence.ndim > 1:
            return f"<p>{escape(repr(self))}</p>"
        rows = "".join(
            f"<tr><th>{escape(str(label))}</th>"
            + "".join(f"<td>{100 * value:.1f}%</td>" for value in values)
            + "</tr>"
            for label, *values in self._rows()
        )
        head = "".join(f"<th>{name}</th>" for name in ("class", "share", "low", "high"))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def to_frame(self) -> "pl.DataFrame":
        """A row for each class of each sample: sample, class, share, low, high.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PACC
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> PACC().fit(X, y).predict_interval(X[100:250], n_bootstrap=200).to_frame().shape
        (2, 5)
        """
        import polars as pl

        shares, low, high = (np.atleast_2d(a) for a in (self.prevalence, self.low, self.high))
        labels = [str(label) for label in self.classes]
        return pl.DataFrame(
            {
                "sample": np.repeat(np.arange(len(shares)), len(labels)),
                "class": labels * len(shares),
                "share": shares.ravel(),
                "low": low.ravel(),
                "high": high.ravel(),
            }
        )

    def _rows(self) -> Iterator[tuple[Any, float, float, float]]:
        columns = (self.classes.tolist(), self.prevalence, self.low, self.high)
        return islice(zip(*columns, strict=True), MOST_SHOWN)


def item_interval(
    quantifier: Fitted,
    items: Items,
    samples: Samples | None = None,
    *,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    simultaneous: bool = False,
    random_state: int = 0,
    of: str = POPULATION,
) -> PrevalenceInterval:
    """Like `predict_interval`, for what `quantifier.items(X)` returned."""
    check_value("simultaneous", simultaneous, bool)
    check_value("random_state", random_state, Seed)
    rows = [np.arange(len(items))] if samples is None else _rows(samples)
    drawn = Replicates(
        quantifier, items, rows, level=level, n_bootstrap=n_bootstrap, seed=random_state, of=of
    )
    drawn.draw_all()
    p_hat = drawn.point.prevalence
    low, high = drawn.limits()
    if simultaneous:
        low, high = stretched(p_hat, low, high, drawn.values, level)
    one = 0 if samples is None else slice(None)
    return PrevalenceInterval(
        prevalence=p_hat[one],
        low=low[one],
        high=high[one],
        level=level,
        classes=quantifier.classes_,
        replicates=drawn.values[one],
        simultaneous=simultaneous,
        informative=drawn.informative[one],
        bias=drawn.bias()[one],
    )


def _rows(samples: Samples) -> list[Indices]:
    rows = [np.asarray(row, dtype=np.int64) for row in samples]  # type: ignore[union-attr]
    return [row[row != PADDING] for row in rows]
