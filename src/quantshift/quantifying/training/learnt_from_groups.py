"""What left-out groups teach about the next sample: how far to go from the training share.

Each group g was estimated without it: by its training share pi_g, by the mean posterior (PCC_g) and
under prior shift (SLD_g), and its labels give the truth. A ridge regression of truth - pi on
PCC - pi and SLD - PCC, shrunk to (1, 0), which is PCC, says how far to go from doing nothing
towards PCC and beyond it towards SLD; all classes have the same coefficients. The limits are those
of the t distribution with the errors on each group of coefficients from the others.

Time is extrapolation: dates and years, each estimated from those before it, teach how far to go
towards PCC, and the range of the assumptions stays.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from quantshift.base.types import Prevalences, Reals
from quantshift.quantifiers.baselines import BASELINE
from quantshift.quantifying.training.group_errors import FORWARD, GroupErrors

RIDGE = (0.01, 0.1)
"""Penalties on the distance of the coefficients from TARGET, in squared shares."""

TARGET = np.array([1.0, 0.0])
"""The coefficients of PCC."""

FEWEST_GROUPS = 5
"""Fewer groups teach nothing."""


@dataclass(frozen=True, eq=False)
class GroupLesson:
    """How far to go from the training share, and how far off that was on the groups.

    towards_covariate, towards_prior: the coefficients of PCC - pi and SLD - PCC. spread: for each
    class, the standard deviation of the errors on the groups, each by coefficients from the others;
    None if the groups are in time. n_groups: how many there were.
    """

    towards_covariate: float
    towards_prior: float
    spread: Reals | None
    n_groups: int

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
        steps = np.stack([mean - nothing, sld - mean], axis=-1)
        if groups.design == FORWARD:
            steps[..., 1] = 0.0
            coefficients = _ridge(steps, truth - nothing)
            return cls(float(coefficients[0]), 0.0, None, len(usable))
        coefficients = _ridge(steps, truth - nothing)
        errors = np.empty_like(truth)
        for i in range(len(usable)):
            others = np.arange(len(usable)) != i
            own = _ridge(steps[others], (truth - nothing)[others])
            errors[i] = truth[i] - nothing[i] - steps[i] @ own
        spread = np.sqrt((errors**2).mean(axis=0))
        first, second = map(float, coefficients)
        return cls(first, second, spread, len(usable))

    def estimate(
        self, training: Prevalences, covariate: Prevalences, prior: Prevalences
    ) -> Prevalences:
        """The shares of a sample from those of training, of PCC and of SLD."""
        moved = self.towards_covariate * (covariate - training)
        shares = np.maximum(training + moved + self.towards_prior * (prior - covariate), 0.0)
        return np.asarray(shares / shares.sum())

    def limits(self, estimate: Prevalences, level: float) -> tuple[Reals, Reals] | None:
        """The limits of the range; None if the groups do not give any."""
        if self.spread is None:
            return None
        quantile = float(stdtrit(self.n_groups - 1, 0.5 + level / 2))
        reach = quantile * self.spread * math.sqrt(1 + 1 / self.n_groups)
        return np.maximum(estimate - reach, 0.0), np.minimum(estimate + reach, 1.0)


@dataclass(frozen=True, eq=False)
class LeftOutAnswer:
    """What the other groups would have made of a group: shares of the classes, with their limits.

    low, high: None if the other groups do not give any.
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
    """Each group by the lesson of the others, or in time of the earlier ones.

    If these are too few to teach anything, the estimate is that of the method `covariate`.
    """
    answers = []
    for i, group in enumerate(groups.groups):
        known = groups.groups[:i]
        if groups.design != FORWARD:
            known += groups.groups[i + 1 :]
        estimates = (group.estimates[method] for method in (BASELINE, covariate, prior))
        truth, nothing, by_mean, by_prior = (
            np.array([shares[label] for label in group.prevalence])
            for shares in (group.prevalence, *estimates)
        )
        lesson = GroupLesson.of(replace(groups, groups=known), covariate, prior)
        estimate = by_mean if lesson is None else lesson.estimate(nothing, by_mean, by_prior)
        limits = None if lesson is None else lesson.limits(estimate, level)
        answers.append(LeftOutAnswer(group.name, truth, estimate, *(limits or (None, None))))
    return answers


def _ridge(steps: Reals, moved: Reals) -> Reals:
    """Coefficients that are shrunk to TARGET. steps: (..., 2); moved: (...)."""
    X = steps.reshape(-1, 2)
    n_classes = steps.shape[-2]
    # Of n shares, which sum to one, n - 1 are free.
    weight = (n_classes - 1) / n_classes
    gram = weight * X.T @ X + np.diag(RIDGE)
    return TARGET + np.linalg.solve(gram, weight * X.T @ (moved.reshape(-1) - X @ TARGET))
