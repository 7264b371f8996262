"""A control chart for a series of estimates: is the newest beyond what usually happens?

An exponentially weighted moving average (EWMA) of the estimates since the baseline is compared with
the mean of the baseline. It answers to a jump about one observation later than a chart of single
estimates would, and to small changes and slow drifts much sooner.

With deviations x_i - m from the mean m of n baseline observations and weights w_i that fall by 1 -
WEIGHT from observation to observation, the variance of sum w_i (x_i - m) is s^2 (sum w_i^2 + (sum
w_i)^2 / n), where s^2 is the variance of observations: it holds the error of sampling and the usual
variation from observation to observation alike. An error that all observations share, such as that
of one training set, cancels. The ratio has Student's t distribution, exactly so for normal
observations of one variance, so that an estimated baseline raises no more false alarms than a known
one. An observation with a wider interval than those of the baseline has the additional variance
added.

Observations are seldom normal and independent, and the limits allow for it in five ways.

* *Heavy tails.* Beyond CLIP robust standard deviations a deviation counts by its logarithm only, so
  that one odd observation alone hardly alarms, unless it is very odd. The kurtosis that is left is
  estimated from the observations. An average has part of it, sum w_i^4 / (sum w_i^2)^2, and the
  quantile of Student's t is moved outwards for it by the expansion of Cornish and Fisher (1937).
* *Observations that resemble the one before.* With the autocorrelation r of an autoregression of
  order one the variance of the average is larger, about by (1 + r (1 - WEIGHT)) / (1 - r (1 -
  WEIGHT)), and that of the baseline's mean by (1 + r) / (1 - r). The estimate of r, corrected for
  its bias, has CAUTION standard errors added. With 20 observations the standard error is 0.2, and
  too small an estimate raises many more false alarms than too large a one avoids.
* *Shares that wander.* If the share itself moves slowly, it is hidden by the error of sampling:
  neighbours are hardly correlated, and an average is all the same far from the mean for weeks. So
  the error that the intervals state is taken out: observations LAGS apart differ more than
  neighbours do, and more than that error explains, by twice the variance that wanders (a
  variogram). It stays in the average as it is. Two variances are compared with CERTAIN standard
  errors of their own, and what is found counts WANDERING times, since a short series has seen less
  of it than there will be.
* *Seasons.* From two years on, what the years have in common (two harmonics of a year) is taken out
  of the observations, if the other years foretell each year by it (SEASONAL).
* *Learning.* Observations that have stayed without an alarm for HOLD observations join those of the
  baseline in the estimates of variance and autocorrelation. The centre remains the baseline's.
  GROUP observations in a row are compared with their own mean, so that a change that is not seen at
  once widens the limits by one group alone and can be seen later.

References: J. M. Lucas and M. S. Saccucci (1990), Exponentially weighted moving average control
schemes: properties and enhancements, Technometrics 32; S. W. Schmid (1997), On EWMA charts for time
series, Frontiers in Statistical Quality Control 5; P. J. Huber, "Robust Statistics", 1981.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from quantshift.base.types import Reals
from quantshift.errors import UserError

WEIGHT = 0.2
"""Of the newest observation. Chosen with `benchmarks/history_alarms.py`: a larger weight sees a
jump of five standard deviations an observation sooner, small changes later, and alarms more often
by chance where observations have heavy tails; a smaller one is slower at all but the smallest
changes."""

CLIP, CAUTION, HOLD, GROUP = 2.5, 1.0, 10, 10
"""See the module and `ChartOptions`."""

CAUTIOUS_CORRELATION = 0.6
"""Caution goes no further: with ten batches it would hide a change of fifty standard deviations."""

LARGEST_CORRELATION = 0.95
"""What is estimated counts up to here; series that resemble themselves more have trends, not noise.
With 0.6, an autocorrelation of 0.8 gave two episodes of false alarms a year, and one of 0.95 gave
six, where one was promised."""

LAGS, CERTAIN, WANDERING = (16, 48), 0.1, 2.0
ENOUGH = 2.5
"""Differences of observations, as a multiple of how far apart these are, that show anything."""
LATER = 50
"""Observations after which one counts for what wanders: a jump is seen before it is learnt."""

SEASONAL = 0.9
"""A season is taken out if squares of what it leaves of a year that it was not learnt from are less
than this part."""
HARMONICS = 2

ALLOWED = 2.0
"""All these allowances make limits too wide for observations without any of it, by so much of the
chance of a false alarm."""

FEWEST_BASELINE = 8
"""With fewer observations the limits are so wide that nothing would alarm."""

LARGEST_LEVEL = 0.05
"""Chance of a false alarm at one observation, at most, however rare the observations are."""


@dataclass(frozen=True, eq=False)
class Chart:
    """The chart of the observations behind the baseline.

    centre: the mean of the baseline; smoothed: the moving average at each observation; margin: how
    far it may be from the centre; alarms: whether it is farther. correlation: of neighbours, that
    the newest limits allow for.
    """

    centre: float
    smoothed: NDArray[np.float64]
    margin: NDArray[np.float64]
    alarms: NDArray[np.bool_]
    correlation: float = 0.0

    @property
    def visible(self) -> float:
        """The smallest lasting change that moves the average beyond its limits in 10 batches."""
        return float(self.margin[-1]) / (1 - (1 - WEIGHT) ** 10)


def level_per_batch(
    false_alarms_per_year: float, batches_per_year: float, *, n_charts: int = 1
) -> float:
    """The chance of a false alarm at one batch of one chart that gives so many a year in all.

    >>> round(1 / level_per_batch(1, 365))
    365
    """
    if not 0 < false_alarms_per_year < np.inf:
        raise UserError(
            f"false alarms per year are a number above 0, got {false_alarms_per_year:g}",
            arguments=["false_alarms_per_year"],
        )
    if not 0 < batches_per_year < np.inf:
        raise UserError(
            f"batches per year are a number above 0, got {batches_per_year:g}",
            arguments=["batches_per_year"],
        )
    return min(false_alarms_per_year / batches_per_year, LARGEST_LEVEL) / n_charts


@dataclass(frozen=True, kw_only=True)
class ChartOptions:
    """How a chart averages and what it allows for; `benchmarks/history_alarms.py` compares others.

    weight: of the newest observation. clip: robust standard deviations beyond which a deviation
    counts by its logarithm. caution: standard errors added to the autocorrelation; None takes
    observations for independent. hold: observations without an alarm after which one is learnt
    from; None learns from the baseline alone. group: observations that are compared with their own
    mean. tails: False takes observations for normal. wanders: False takes shares for constant.
    """

    weight: float = WEIGHT
    clip: float = CLIP
    caution: float | None = CAUTION
    hold: int | None = HOLD
    group: int = GROUP
    tails: bool = True
    wanders: bool = True


CHOSEN = ChartOptions()


def control_chart(
    estimates: ArrayLike,
    standard_errors: ArrayLike,
    n_items: ArrayLike,
    *,
    n_baseline: int,
    level: float,
    years: ArrayLike | None = None,
    options: ChartOptions = CHOSEN,
) -> Chart:
    """The chart of a series whose first `n_baseline` observations are the baseline.

    estimates, standard_errors, n_items: one for each observation, in the order of time. level: the
    chance of a false alarm at each observation. years: when they were, in years; None if that is
    not known, and no season can be learnt.
    """
    given = [np.asarray(each, dtype=np.float64) for each in (estimates, standard_errors, n_items)]
    values, errors, sizes = (each[np.newaxis] for each in given)
    if n_baseline < 2 or n_baseline > values.shape[1]:
        raise UserError(
            f"a baseline of {n_baseline} batches of {values.shape[1]}; give 2 or more, and no more "
            "than there are",
            arguments=["baseline"],
        )
    charted = partial(
        charts,
        standard_errors=errors,
        n_items=sizes,
        n_baseline=n_baseline,
        level=level,
        options=options,
    )
    centre, smoothed, margin, correlation = charted(values)
    for first, season in [] if years is None else _seasons(values[0], np.asarray(years)):
        without = charted(values - season)
        behind = max(first - n_baseline, 0)
        centre, correlation = without[0], without[3]
        for all_of_it, part in ((smoothed, without[1]), (margin, without[2])):
            all_of_it[:, behind:] = part[:, behind:]
    alarms = np.abs(smoothed[0]) > margin[0]
    return Chart(
        float(centre[0]), centre[0] + smoothed[0], margin[0], alarms, float(correlation[0])
    )


def _seasons(values: Reals, years: Reals) -> Iterator[tuple[int, Reals]]:
    """What to take out of all observations from a position on, learnt from the years before it."""
    since = years - years[0]
    angles = 2 * np.pi * since[:, np.newaxis] * np.arange(1, HARMONICS + 1)
    waves = np.column_stack([np.cos(angles), np.sin(angles)])
    for n_years in range(2, int(since[-1]) + 1):
        first = int(np.searchsorted(since, n_years))
        year = since[:first].astype(np.int64)
        middle, scale = _robust(values[np.newaxis, :first], np.zeros(1))
        usual = scale * _clipped((values[:first] - middle) / np.maximum(scale, 1e-12), CLIP)
        X = waves[:first]
        # A level for every year, so that a change between two is no season.
        centred = [_less_means(each, year) for each in (usual[0][:, np.newaxis], X)]
        y, W = centred[0][:, 0], centred[1]
        left = np.concatenate(
            [
                y[year == held] - W[year == held] @ _least_squares(W[year != held], y[year != held])
                for held in range(n_years)
            ]
        )
        if first < len(values) and left @ left < SEASONAL * (y @ y):
            yield first, waves @ _least_squares(W, y)


def _least_squares(X: Reals, y: Reals) -> Reals:
    return np.asarray(np.linalg.lstsq(X, y, rcond=None)[0])


def _less_means(columns: Reals, groups: NDArray[np.int64]) -> Reals:
    """Columns less their mean in each group."""
    n = np.maximum(np.bincount(groups), 1)
    means = [np.bincount(groups, weights=column) / n for column in columns.T]
    return columns - np.column_stack(means)[groups]


def charts(
    values: Reals,
    standard_errors: Reals,
    n_items: Reals,
    *,
    n_baseline: int,
    level: float,
    options: ChartOptions = CHOSEN,
) -> tuple[Reals, Reals, Reals, Reals]:
    """Centres, deviations of the moving averages from them, how far these may be, and the
    autocorrelation that the newest limits allow for.

    values, standard_errors, n_items: (n_series, n_observations). Each observation is judged by
    those before it.
    """
    weight, hold, level = options.weight, options.hold, level * (ALLOWED if options.wanders else 1)
    first = values[:, :n_baseline]
    least = _least_variance(first.mean(axis=1), n_items[:, :n_baseline])
    middle, scale = _robust(first, least)
    usual = middle + scale * _clipped((first - middle) / scale, options.clip)
    centre = usual.mean(axis=1, keepdims=True)
    # What intervals share does not matter: only how much wider one is than those of the baseline.
    variances = standard_errors**2
    added = np.maximum(0.0, variances - variances[:, :n_baseline].mean(axis=1, keepdims=True))
    own_scale = np.sqrt(scale**2 + added)
    z = own_scale * _clipped((values - centre) / own_scale, options.clip)
    learnt, wandering = _Learnt(z[:, :n_baseline], options.group), _Wandering(z, variances)
    n_series, n_observations = z.shape[0], z.shape[1] - n_baseline
    smoothed, margin = np.zeros((2, n_series, n_observations))
    average, variance, shared, extra = np.zeros((4, n_series))
    alarms = np.zeros((n_series, n_observations), dtype=np.bool_)
    r = np.zeros(n_series)
    for i in range(n_observations):
        now = n_baseline + i
        if hold is not None and i >= hold:
            quiet = np.asarray(~alarms[:, i - hold : i].any(axis=1))
            learnt.add(z[:, now - hold], z[:, now - hold - 1], quiet)
        moments = learnt.moments()
        r = np.zeros(n_series)
        if options.caution is not None:
            r = moments.correlation(options.caution)
        average = (1 - weight) * average + weight * z[:, now]
        # Of the average, in units of an observation's; and what it shares with the newest.
        variance = (1 - weight) ** 2 * variance + weight**2 + 2 * weight * (1 - weight) * r * shared
        shared = (1 - weight) * r * shared + weight
        extra = (1 - weight) ** 2 * extra + weight**2 * added[:, now]
        total = 1 - (1 - weight) ** (i + 1)
        long_run = (1 + r) / (1 - r)
        of_one = np.maximum(moments.variance(long_run), least)
        spread = of_one * (variance + total**2 * long_run / n_baseline)
        if options.wanders:
            slow = wandering.variance(max(now - LATER, n_baseline), n_baseline)
            parts = _part_of_average(weight, i + 1), total**2
            spread = np.maximum(spread, _spread_of_wandering(of_one, slow, parts, n_baseline))
        spread = np.sqrt(spread + extra)
        degrees = moments.degrees * (1 - r**2) / (1 + r**2)
        smoothed[:, i] = average
        quantile = stdtrit(degrees, 1 - level / 2)
        if options.tails:
            kurtosis = learnt.excess_kurtosis(least) * _kept_kurtosis(weight, i + 1)
            quantile = _heavier(quantile, kurtosis)
        margin[:, i] = quantile * spread
        alarms[:, i] = np.abs(average) > margin[:, i]
    return centre[:, 0], smoothed, margin, r


@dataclass(frozen=True, eq=False)
class _Moments:
    """Sums of groups of observations, for every series.

    n, groups, pairs: the number of observations, of groups and of pairs of an observation and the
    one before; squares, products: of the deviations from the mean of their group.
    """

    n: Reals
    groups: Reals
    pairs: Reals
    squares: Reals
    products: Reals

    @property
    def degrees(self) -> Reals:
        """Degrees of freedom: each group has a mean of its own."""
        return self.n - self.groups

    def variance(self, long_run: Reals) -> Reals:
        """Of one observation; `long_run` times that of independent ones is that of their sum."""
        # Observations that resemble each other are nearer to their own mean than to the true one.
        nearer = 1 - self.groups * (long_run - 1) / self.degrees
        return np.asarray(self.squares / self.degrees / np.maximum(nearer, 0.5))

    def correlation(self, caution: float) -> Reals:
        """Of neighbours, not below 0, corrected for its bias (Kendall 1954).

        With one group the bias is -(1 + 3 r) / n, of which -(1 + r) / n is due to the mean.
        """
        spread = np.maximum(self.squares / self.n, np.finfo(np.float64).tiny)
        r = self.products / self.pairs / spread
        unbiased = (self.n * r + self.groups) / np.maximum(self.n - self.groups - 2, 1.0)
        cautious = np.minimum(unbiased + caution / np.sqrt(self.n), CAUTIOUS_CORRELATION)
        return np.asarray(np.clip(np.maximum(unbiased, cautious), 0.0, LARGEST_CORRELATION))


class _Wandering:
    """Half the mean squares of differences of observations, for every series.

    z: deviations; known: variances of the errors of sampling, (n_series, n_observations) both.
    """

    def __init__(self, z: Reals, known: Reals) -> None:
        self._z, self._known, self._counted = z, known, 1
        self._lags = (1, *LAGS)
        self._n = np.zeros(len(self._lags))
        self._squares = np.zeros((len(self._lags), len(z)))

    def variance(self, n: int, n_baseline: int) -> Reals:
        """That of what wanders, by the first n observations."""
        for now in range(self._counted, n):
            for j, lag in enumerate(self._lags):
                if now >= lag:
                    self._squares[j] += (self._z[:, now] - self._z[:, now - lag]) ** 2 / 2
                    self._n[j] += 1
        self._counted = max(n, self._counted)
        of_neighbours, *others = self._squares / np.maximum(self._n, 1)[:, np.newaxis]
        error = self._known[:, :n_baseline].mean(axis=1)
        slow = np.zeros(len(self._z))
        for lag, count, square in zip(LAGS, self._n[1:], others, strict=True):
            if count >= ENOUGH * lag:
                uncertain = CERTAIN / 2 * of_neighbours * np.sqrt(lag / (2 * count))
                slow = np.maximum(slow, square - np.maximum(of_neighbours, error) - uncertain)
        return WANDERING * slow


def _spread_of_wandering(
    of_one: Reals, slow: Reals, parts: tuple[float, float], n_baseline: int
) -> Reals:
    """The variance of the average less the centre, if a part of an observation's wanders.

    parts: of the rest of the variance in the average, and of what wanders.
    """
    average, total = parts
    rest = np.maximum(of_one - slow, of_one / 5)
    independent = max(n_baseline / (2 * LAGS[0]), 1.0)
    wide = rest * (average + total / n_baseline) + slow * total * (1 + 1 / independent)
    return np.asarray(np.where(slow > 0, wide, 0.0))


def _part_of_average(weight: float, n: int) -> float:
    """The variance of the moving average of n independent observations, as a part of theirs."""
    return float(weight / (2 - weight) * (1 - (1 - weight) ** (2 * n)))


class _Learnt:
    """Sums from which variance and autocorrelation are estimated, for every series.

    The baseline is a group, and so are every `group` observations that are added.
    """

    def __init__(self, baseline: Reals, group: int) -> None:
        n_series, n = baseline.shape
        observation, before = baseline[:, 1:], baseline[:, :-1]
        sums = [
            np.full(n_series, float(n)),
            baseline.sum(axis=1),
            (baseline**2).sum(axis=1),
            np.full(n_series, n - 1.0),
            (observation + before).sum(axis=1),
            (observation * before).sum(axis=1),
        ]
        self._group = group
        self._complete = _around_mean(np.stack(sums))
        self._newest = np.zeros((len(sums), n_series))
        self._n, self._squares = np.full(n_series, float(n)), (baseline**2).sum(axis=1)
        self._fourth_powers = (baseline**4).sum(axis=1)

    def add(self, observation: Reals, before: Reals, used: NDArray[np.bool_]) -> None:
        """Learn from one observation of those series that use it."""
        one = np.ones(len(observation))
        self._newest += used * np.stack(
            [one, observation, observation**2, one, observation + before, observation * before]
        )
        full = self._newest[0] >= self._group
        if full.any():
            self._complete += full * _around_mean(self._newest)
            self._newest *= ~full
        self._n += used
        self._squares += used * observation**2
        self._fourth_powers += used * observation**4

    def moments(self) -> _Moments:
        """Of all groups, also of one that is half complete."""
        counts = 2 * self._newest[0] >= self._group
        return _Moments(*(self._complete + counts * _around_mean(self._newest)))

    def excess_kurtosis(self, least: Reals) -> Reals:
        """Around the centre, not below 0; of normal observations it is 0 on average.

        least: the variance below which an observation's is not taken to be.
        """
        variance = np.maximum(self._squares / self._n, least)
        ratio = self._fourth_powers / self._n / variance**2
        return np.asarray(np.maximum(ratio * (self._n + 2) / self._n - 3, 0.0))


def _around_mean(sums: Reals) -> Reals:
    """The fields of `_Moments` of one group.

    sums: of the observations their number, sum and squares; of the pairs of an observation and the
    one before their number, the sum of both and their products.
    """
    n, total, squares, pairs, both, products = sums
    mean = total / np.maximum(n, 1.0)
    return np.stack(
        [n, n > 0, pairs, squares - total * mean, products - mean * both + pairs * mean**2]
    )


def _kept_kurtosis(weight: float, n_observations: int) -> float:
    """The part of the observations' excess kurtosis that their moving average has."""
    weights = weight * (1 - weight) ** np.arange(n_observations)
    return float((weights**4).sum() / (weights**2).sum() ** 2)


def _heavier(quantile: Reals, kurtosis: Reals) -> Reals:
    """A quantile allowing for excess kurtosis, by the expansion of Cornish and Fisher."""
    return np.asarray(quantile + kurtosis * (quantile**3 - 3 * quantile) / 24)


def _robust(first: Reals, least: Reals) -> tuple[Reals, Reals]:
    """Median and scale of every baseline; the scale from the median deviation, if it has one."""
    middle = np.median(first, axis=1, keepdims=True)
    scale = 1.4826 * np.median(np.abs(first - middle), axis=1, keepdims=True)
    deviation = first.std(axis=1, ddof=1, keepdims=True)
    scale = np.where(scale > 0.3 * deviation, scale, deviation)
    return middle, np.maximum(scale, np.sqrt(least)[:, np.newaxis])


def _clipped(z: Reals, clip: float) -> Reals:
    """Numbers beyond `clip` grow with their logarithm."""
    size = np.abs(z)
    if np.isinf(clip):
        return z
    return np.where(
        size <= clip, z, np.sign(z) * clip * (1 + np.log(np.maximum(size, clip) / clip))
    )


def _least_variance(centre: Reals, sizes: Reals) -> Reals:
    """That of counting so many items; estimates that all are 0 do not vary at all."""
    size = np.maximum(np.median(sizes, axis=1), 1.0)
    share = (np.clip(centre, 0.0, 1.0) * size + 1) / (size + 2)
    return np.asarray(share * (1 - share) / size)
