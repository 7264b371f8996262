"""What left-out groups teach about the next sample: how far to go from the training share.

Each group g was estimated without it: by its training share pi_g, by the mean posterior (PCC_g) and
under prior shift (SLD_g), and its labels give the truth. A ridge regression of truth - pi on
PCC - pi and SLD - PCC, shrunk to (1, 0), which is PCC, says how far to go from doing nothing
towards PCC and beyond it towards SLD; all classes have the same coefficients.

That is followed only as far as the groups show that it helps: each is estimated by coefficients
from the others as well. The estimate starts from PCC, or from the default if it was closer to the
groups. Of the way from there to the estimate of the coefficients the part
1 - 2 (standard error / mean)^2 is taken, of the amounts by which the coefficients reduce the errors
on the groups, and nothing if they do not reduce them. The limits are those of the t distribution
with the errors of all this on each group, learnt from the others.

Time is extrapolation: periods, each estimated from those before it, teach how far to go towards
PCC. Errors on a few periods are too small a guide to the next, so the range of the assumptions
stays, and is at least as wide as the largest of them.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

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
"""How much the error of the gain over the default counts (`benchmarks/left_out_groups.py`)."""

FEWEST_GROUPS = 5
"""Fewer groups teach nothing."""


@dataclass(frozen=True, eq=False)
class GroupLesson:
    """How far to go from the training share, and how far off that was on the groups.

    towards_covariate, towards_prior: the coefficients of PCC - pi and SLD - PCC. start: the method
    whose estimate is the start, PCC or the default. trust: how far to go from there to the estimate
    of the coefficients, from 0 to 1. errors: of the shares of each group, (n_groups, n_classes), by
    the lesson of the others, or in time by this one. in_time: whether the groups are periods.
    """

    towards_covariate: float
    towards_prior: float
    start: str
    trust: float
    errors: Reals
    in_time: bool

    @property
    def n_groups(self) -> int:
        """How many groups taught it."""
        return len(self.errors)

    @classmethod
    def of(cls, groups: GroupErrors, covariate: str, prior: str) -> "GroupLesson | None":
        """From the left-out groups; None if there are too few. covariate, prior: the methods.

        The default is the method of the groups if it tests itself, and else `covariate`.
        """
        tested = all(g.refuted is not None for g in groups.groups)
        default = groups.method if tested else covariate
        methods = {covariate, prior, default, BASELINE}
        usable = [g for g in groups.groups if methods <= g.estimates.keys()]
        if len(usable) < FEWEST_GROUPS:
            return None
        labels = list(usable[0].prevalence)

        def shares(method: str) -> Reals:
            return np.array([[g.estimates[method][label] for label in labels] for g in usable])

        nothing, mean, sld = shares(BASELINE), shares(covariate), shares(prior)
        truth = np.array([[g.prevalence[label] for label in labels] for g in usable])
        steps = np.stack([mean - nothing, sld - mean], axis=-1)
        if groups.in_time:
            steps[..., 1] = 0.0
        seen = _Seen(steps, truth - nothing, shares(default) - nothing)
        learnt = seen.lesson()
        errors = seen.errors(learnt) if groups.in_time else seen.left_out_errors()
        first, second = map(float, learnt.coefficients)
        start = default if learnt.from_default else covariate
        return cls(first, second, start, learnt.trust, errors, groups.in_time)

    def estimate(
        self,
        training: Prevalences,
        covariate: Prevalences,
        prior: Prevalences,
        start: Prevalences,
    ) -> Prevalences:
        """The shares of a sample from those of training, of PCC, of SLD and of `start`."""
        moved = self.towards_covariate * (covariate - training)
        learnt = training + moved + self.towards_prior * (prior - covariate)
        shares = np.maximum(start + self.trust * (learnt - start), 0.0)
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
        lesson = GroupLesson.of(replace(groups, groups=others), covariate, prior)
        start = covariate if lesson is None else lesson.start
        estimates = (group.estimates[method] for method in (BASELINE, covariate, prior, start))
        truth, *shares = (
            np.array([by_label[label] for label in group.prevalence])
            for by_label in (group.prevalence, *estimates)
        )
        estimate = shares[1] if lesson is None else lesson.estimate(*shares)
        low = high = None
        if lesson is not None and not groups.in_time:
            low, high = lesson.limits(estimate, level, estimate, estimate)
        answers.append(LeftOutAnswer(group.name, truth, estimate, low, high))
    return answers


class _Learnt(NamedTuple):
    """Coefficients, whether the default is the start instead of PCC, and how far to go."""

    coefficients: Reals
    from_default: bool
    trust: float


@dataclass(frozen=True, eq=False)
class _Seen:
    """Groups with their truth: what can be learnt from them.

    steps: PCC - pi and SLD - PCC, (n_groups, n_classes, 2); moved, default: the truth and the
    estimate by default, less pi, (n_groups, n_classes).
    """

    steps: Reals
    moved: Reals
    default: Reals

    def without(self, i: int) -> "_Seen":
        """The other groups."""
        others = np.arange(len(self.moved)) != i
        return _Seen(self.steps[others], self.moved[others], self.default[others])

    def lesson(self) -> _Learnt:
        """What these groups teach."""
        left_out = [
            self.moved[i] - self.steps[i] @ self.without(i).coefficients()
            for i in range(len(self.moved))
        ]
        by_mean, by_default, by_coefficients = (
            np.abs(errors).mean(axis=1)
            for errors in (
                self.moved - self.steps @ TARGET,
                self.moved - self.default,
                np.stack(left_out),
            )
        )
        from_default = bool(by_default.mean() < by_mean.mean())
        gains = (by_default if from_default else by_mean) - by_coefficients
        gain, variance = gains.mean(), gains.var(ddof=1) / len(gains)
        trust = max(1 - DOUBT * variance / gain**2, 0.0) if gain > 0 else 0.0
        return _Learnt(self.coefficients(), from_default, float(trust))

    def errors(self, learnt: _Learnt) -> Reals:
        """The errors on these groups by such a lesson."""
        start = self.default if learnt.from_default else self.steps @ TARGET
        end = self.steps @ learnt.coefficients
        return np.asarray(self.moved - start - learnt.trust * (end - start))

    def left_out_errors(self) -> Reals:
        """The errors on each group by the lesson of the others."""
        return np.stack([self.errors(self.without(i).lesson())[i] for i in range(len(self.moved))])

    def coefficients(self) -> Reals:
        """Those of the ridge regression, shrunk to TARGET."""
        X = self.steps.reshape(-1, 2)
        n_classes = self.steps.shape[-2]
        # Of n shares, which sum to one, n - 1 are free.
        weight = (n_classes - 1) / n_classes
        gram = weight * X.T @ X + np.diag(RIDGE)
        rest = self.moved.reshape(-1) - X @ TARGET
        return np.asarray(TARGET + np.linalg.solve(gram, weight * X.T @ rest))
