"""What left-out groups teach about the next sample: how far to go from the training share.

Each group g was estimated without it: by its training share pi_g, by the mean posterior (PCC_g) and
under prior shift (SLD_g), and its labels give the truth. A ridge regression of truth - pi on
PCC - pi and SLD - PCC, shrunk to (1, 0), which is PCC, says how far to go from doing nothing
towards PCC and beyond it towards SLD; all classes have the same coefficients.

That is followed only as far as the groups show that it helps: each is estimated by coefficients
from the others as well, and of the way from PCC to the coefficients the part
1 - 2 (standard error / mean)^2 is taken, of the amounts by which this reduces the errors of PCC;
nothing if they are not reduced. The limits are those of the t distribution with the errors of all
this on each group, learnt from the others.

Time is extrapolation: periods, each estimated from those before it, teach how far to go towards
PCC. Errors on a few periods are too small a guide to the next, so the range of the assumptions
stays, and is at least as wide as the largest of them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from quantshift.base.types import Prevalences, Reals
from quantshift.quantifiers.baselines import BASELINE
from quantshift.quantifying.training.group_errors import GroupErrors

RIDGE = (0.01, 0.1)
"""Penalties on the distance of the coefficients from TARGET, in squared shares."""

TARGET = np.array([1.0, 0.0])
"""The coefficients of PCC."""

DOUBT = 2.0
"""How much the error of the gain over PCC counts (`benchmarks/left_out_groups.py`)."""

FEWEST_GROUPS = 5
"""Fewer groups teach nothing."""


@dataclass(frozen=True, eq=False)
class GroupLesson:
    """How far to go from the training share, and how far off that was on the groups.

    towards_covariate, towards_prior: the coefficients of PCC - pi and SLD - PCC. errors: of the
    shares of each group, (n_groups, n_classes), by coefficients from the others, or in time by
    these coefficients. in_time: whether the groups are periods.
    """

    towards_covariate: float
    towards_prior: float
    errors: Reals
    in_time: bool

    @property
    def n_groups(self) -> int:
        """How many groups taught it."""
        return len(self.errors)

    @classmethod
    def of(cls, groups: GroupErrors, covariate: str, prior: str) -> "GroupLesson | None":
        """From the left-out groups; None if there are too few. covariate, prior: the methods."""
        usable = [g for g in groups.groups if {covariate, prior, BASELINE} <= g.estimates.keys()]
        if len(usable) < FEWEST_GROUPS:
            return None
        labels = list(usable[0].prevalence)

        def shares(method: str) -> Reals:
            return np.array([[g.estimates[method][label] for label in labels] for g in usable])

        nothing, mean, sld = shares(BASELINE), shares(covariate), shares(prior)
        truth = np.array([[g.prevalence[label] for label in labels] for g in usable])
        moved, steps = truth - nothing, np.stack([mean - nothing, sld - mean], axis=-1)
        if groups.in_time:
            steps[..., 1] = 0.0
        coefficients = _as_far_as_it_helps(steps, moved)
        if groups.in_time:
            errors = moved - steps @ coefficients
        else:
            errors = _left_out_errors(_as_far_as_it_helps, steps, moved)
        first, second = map(float, coefficients)
        return cls(first, second, errors, groups.in_time)

    def estimate(
        self, training: Prevalences, covariate: Prevalences, prior: Prevalences
    ) -> Prevalences:
        """The shares of a sample from those of training, of PCC and of SLD."""
        moved = self.towards_covariate * (covariate - training)
        shares = np.maximum(training + moved + self.towards_prior * (prior - covariate), 0.0)
        return np.asarray(shares / shares.sum())

    def limits(
        self, estimate: Prevalences, level: float, low: Reals, high: Reals
    ) -> tuple[Reals, Reals]:
        """The limits of the range. low, high: those of the assumptions, which time only widens."""
        if self.in_time:
            reach = np.abs(self.errors).max(axis=0)
            low, high = np.minimum(low, estimate - reach), np.maximum(high, estimate + reach)
        else:
            quantile = float(stdtrit(self.n_groups - 1, 0.5 + level / 2))
            spread = np.sqrt((self.errors**2).mean(axis=0))
            reach = quantile * spread * math.sqrt(1 + 1 / self.n_groups)
            low, high = estimate - reach, estimate + reach
        return np.maximum(low, 0.0), np.minimum(high, 1.0)


@dataclass(frozen=True, eq=False)
class LeftOutAnswer:
    """What the other groups would have made of a group: shares of the classes, with their limits.

    low, high: None if the other groups do not give any, or are periods, whose range also depends on
    what the items of the group allow.
    """

    name: str
    truth: Reals
    estimate: Reals
    low: Reals | None
    high: Reals | None

    @property
    def holds(self) -> bool | None:
        """Whether the limits of every class hold; None without limits."""
        if self.low is None or self.high is None:
            return None
        return bool(((self.low <= self.truth) & (self.truth <= self.high)).all())


def left_out_answers(
    groups: GroupErrors, covariate: str, prior: str, level: float
) -> list[LeftOutAnswer]:
    """Each group, estimated by the lesson of the others or, in time, of the earlier ones.

    If these are too few to teach anything, the estimate is that of the method `covariate`.
    """
    answers = []
    for i, group in enumerate(groups.groups):
        others = groups.groups[:i]
        if not groups.in_time:
            others += groups.groups[i + 1 :]
        estimates = (group.estimates[method] for method in (BASELINE, covariate, prior))
        truth, nothing, by_mean, by_prior = (
            np.array([shares[label] for label in group.prevalence])
            for shares in (group.prevalence, *estimates)
        )
        lesson = GroupLesson.of(replace(groups, groups=others), covariate, prior)
        estimate = by_mean if lesson is None else lesson.estimate(nothing, by_mean, by_prior)
        low = high = None
        if lesson is not None and not groups.in_time:
            low, high = lesson.limits(estimate, level, estimate, estimate)
        answers.append(LeftOutAnswer(group.name, truth, estimate, low, high))
    return answers


def _as_far_as_it_helps(steps: Reals, moved: Reals) -> Reals:
    """Coefficients between TARGET and those of the ridge regression."""
    by_target = np.abs(moved - steps @ TARGET).mean(axis=1)
    gains = by_target - np.abs(_left_out_errors(_ridge, steps, moved)).mean(axis=1)
    gain, variance = gains.mean(), gains.var(ddof=1) / len(gains)
    trust = max(1 - DOUBT * variance / gain**2, 0.0) if gain > 0 else 0.0
    return np.asarray(TARGET + trust * (_ridge(steps, moved) - TARGET))


def _left_out_errors(
    coefficients: Callable[[Reals, Reals], Reals], steps: Reals, moved: Reals
) -> Reals:
    """The errors on each group by coefficients from the others, (n_groups, n_classes)."""
    number = np.arange(len(moved))
    return np.stack(
        [moved[i] - steps[i] @ coefficients(steps[number != i], moved[number != i]) for i in number]
    )


def _ridge(steps: Reals, moved: Reals) -> Reals:
    """Coefficients that are shrunk to TARGET. steps: (..., 2); moved: (...)."""
    X = steps.reshape(-1, 2)
    n_classes = steps.shape[-2]
    # Of n shares, which sum to one, n - 1 are free.
    weight = (n_classes - 1) / n_classes
    gram = weight * X.T @ X + np.diag(RIDGE)
    return TARGET + np.linalg.solve(gram, weight * X.T @ (moved.reshape(-1) - X @ TARGET))
