"""Labels that decide between two shares: a sequential test with a third outcome, neither.

An answer without evidence names two shares, such as 59% if only the shares of the classes changed
and 35% if only the mix of items did. Telling two numbers apart takes far fewer labels than
measuring one of them. Against each of the two, bets are placed on the labels of random items as in
`sequence`: most of the capital on the other share, the rest on anything else. Without scores the
first bet multiplies the capital by the ratio of the likelihoods, so that this is Wald's sequential
probability ratio test, in which the other share is accepted at a ratio of 1 / error.

The capital against the true share exceeds 1 / error at any time with probability `error` at most
(Ville's inequality), whatever has shifted and however often one looks. The two shares are
estimates, so that each stands for all shares within a tenth of the distance to the other one: what
is rejected is the nearest of them. So

    first, second   the capital against the other share has been that large, and only that
    neither         both have
    open            none has: label more

Scores make the test shorter, right or wrong, as in `sequence`: the bet is on the residual of the
label. Its stake is the distance of the shares divided by the variance of the residual, which is
p (1 - p) minus what the scores explain.

If the true share is halfway between the two, the test may decide for either; the interval of the
audit shows where it is. `benchmarks/deciding_labels.py` measures errors and labels.

Reference: A. Wald, "Sequential tests of statistical hypotheses", Ann. Math. Statist. 16 (1945).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from quantshift.base.types import Reals
from quantshift.errors import DataError, UserError
from quantshift.labelling.sequence import Scores, capital

FIRST, SECOND, NEITHER, OPEN = "first", "second", "neither", "open"

ERROR = 0.05
"""The largest probability of rejecting the true share."""

ON_ANYTHING_ELSE = 0.1
"""The part of the capital that is not bet on the other share."""

TOLERANCE = 0.1
"""How far the truth may be from a share on the way to the other one. With 0 the share that is
further from the truth is settled in 8% of cases, and 0.2 takes a fifth more labels
(`benchmarks/deciding_labels.py`)."""

TRUST = 1.0
"""The weight of scores before there are labels: they are posteriors, adapted to the estimate."""

LEAST_VARIANCE = 0.01
"""Scores may explain nearly everything; the stake must not grow without bounds."""

MOST_STAKE = 0.95
"""The largest part of the capital that is put at risk on a single label."""


@dataclass(frozen=True, eq=False)
class Decided:
    """What labels decide between two shares.

    outcome: FIRST, SECOND, NEITHER or OPEN. n_labels: after how many labels, or how many there are.
    against_first, against_second: the capital of bets against each share after every label.
    """

    outcome: str
    n_labels: int
    against_first: Reals
    against_second: Reals


def decide(
    labels: ArrayLike,
    first: float,
    second: float,
    *,
    n_items: int | None = None,
    scores: Scores | None = None,
    error: float = ERROR,
) -> Decided:
    """Which of two shares of a class the labels of random items settle.

    labels: 1 for items of the class, else 0, in the order of labelling. n_items: the size of the
    sample they were drawn from, without replacement; None: a large population. scores: those of
    the class at every label (`Scores.of`, with `TRUST`).
    """
    y = np.asarray(labels, dtype=np.float64)
    if y.ndim != 1 or not np.isin(y, (0.0, 1.0)).all():
        raise DataError("labels that decide must be a vector of 0 and 1")
    if not (0 <= first <= 1 and 0 <= second <= 1 and first != second):
        raise UserError("labels decide between two different shares from 0 to 1")
    used_scores = Scores.none(len(y)) if scores is None else scores
    nearest = [
        share + TOLERANCE * (other - share) for share, other in ((first, second), (second, first))
    ]
    anything = capital(y, nearest, n_items, used_scores)
    against = [
        (1 - ON_ANYTHING_ELSE) * _bet_on(other, share, y, n_items, used_scores)
        + ON_ANYTHING_ELSE * anything[:, i]
        for i, (share, other) in enumerate(zip(nearest, (second, first), strict=True))
    ]
    crossings = [np.flatnonzero(path >= 1 / error) for path in against]
    rejected_after = [int(rows[0]) + 1 if len(rows) else None for rows in crossings]
    return Decided(_outcome(*rejected_after), _decided_after(rejected_after, len(y)), *against)


def expected_labels(first: float, second: float, explained: float) -> int:
    """About how many labels decide between two shares if one of them is true.

    explained: the variance of the labels that scores explain. The larger of the two numbers, which
    are those of Wald's test with a normal approximation of the growth.

    >>> expected_labels(0.59, 0.35, 0.0), expected_labels(0.59, 0.35, 0.1)
    (33, 19)
    """
    log_capital = math.log(1 / ERROR / (1 - ON_ANYTHING_ELSE))
    hardest = max(share * (1 - share) for share in (first, second))
    variance = max(hardest - explained, LEAST_VARIANCE)
    return math.ceil(2 * log_capital * variance / ((1 - TOLERANCE) * (first - second)) ** 2)


def _outcome(first_rejected: int | None, second_rejected: int | None) -> str:
    if first_rejected is not None and second_rejected is not None:
        return NEITHER
    if first_rejected is not None:
        return SECOND
    return OPEN if second_rejected is None else FIRST


def _decided_after(rejected: list[int | None], n_labels: int) -> int:
    decided = [n for n in rejected if n is not None]
    return max(decided) if decided else n_labels


def _bet_on(other: float, share: float, y: Reals, n_items: int | None, scores: Scores) -> Reals:
    """The capital, after every label, of bets against a share that another one is true."""
    capitals, log_capital = np.empty(len(y)), 0.0
    seen: Any = 0.0
    for t, label in enumerate(y):
        n_left = math.inf if n_items is None else n_items - t
        mu, expected = (
            m if n_items is None else (n_items * m - seen) / n_left for m in (share, other)
        )
        if not -1e-9 <= mu <= 1 + 1e-9:
            # So many items of the class, or so few, are impossible with this share.
            capitals[t:] = math.inf
            return capitals
        log_capital += _growth(label, mu, expected, scores, t)
        capitals[t] = math.exp(min(log_capital, 600.0))
        seen += label
    return capitals


def _growth(label: float, mu: float, expected: float, scores: Scores, t: int) -> float:
    """The logarithm by which the capital grows at a label.

    mu, expected: the probability of the class at this label under the share and under the other.
    """
    weight = scores.weight[t]
    centre = mu - weight * scores.remaining[t]
    gain = label - weight * scores.labelled[t] - centre
    variance = max(mu * (1 - mu) - weight**2 * scores.variance, LEAST_VARIANCE)
    stake = (expected - mu) / variance
    # The largest possible distances of an item below and above the expectation.
    below = max(centre + weight * scores.most, 1e-12)
    above = max(1 - weight * scores.least - centre, 1e-12)
    stake = min(max(stake, -MOST_STAKE / above), MOST_STAKE / below)
    return math.log1p(stake * gain)
