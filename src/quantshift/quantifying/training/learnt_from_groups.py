"""What left-out groups teach about the next sample: how to mix what the methods say.

Each group was estimated without it: by its training share, by the mean posterior (PCC) and under
prior shift (SLD), and its labels give the truth. The mixture of the three that comes closest to
the truths, by least squares with a penalty on what is not PCC, says how much of each to use; all
classes have the same weights.

That is followed only as far as the groups show that it helps: each is estimated by weights from the
others as well, and of the way from PCC to the mixture the part 1 - 2 (standard error / mean)^2 is
taken, of the amounts by which this reduces the errors of PCC; nothing if they are not reduced. The
limits are those of the t distribution with the errors of all this on each group, learnt from the
others, and with the sampling error of the new items.

Where label shift is not refuted, SLD may be right, whatever the groups teach. They then say nothing
about a sample on which PCC and SLD are further apart than on any group that does not refute label
shift either. About others the lesson also moves the estimate within an interval on which PCC and
SLD agree, and replaces an interval that the items support if the groups show that the default errs
all the same.

Time is extrapolation: periods, each estimated from those before it, teach whether PCC is better
than the default, and by what multiple of PCC's distance from the training share to go further, or
less far; both are followed only as far as that would have helped. Errors on a few periods are too
small a guide to the next, so the range of the assumptions is at least as wide as the largest of
them, and it stays unless the sample is like the periods: PCC is hardly further from the share of
the last period than it was from one to the next, and so is SLD from PCC where label shift is not
refuted. Then the range is the shortest of three: that of the assumptions, the limits of the t
distribution with the errors on the periods, and those with the changes from each to the next around
the share of the last. A steady past gives a short range (`benchmarks/left_out_groups.py`).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls
from scipy.special import stdtrit

from quantshift.base.types import Prevalences, Reals
from quantshift.claims import Reason
from quantshift.quantifiers.baselines import BASELINE
from quantshift.quantifying.group_errors import GroupErrors

PENALTY = 0.02
"""On the squared weights of what is not PCC, in squared shares."""

DOUBT = 2.0
"""How much the error of the gain counts (`benchmarks/left_out_groups.py`)."""

FEWEST_GROUPS = 5
"""Fewer groups teach nothing."""

HARDLY_FURTHER = 1.5
"""A sample is like the periods if its distances are at most so many times the largest of theirs."""

SUM_WEIGHT = 1e3
"""The weight of the constraint that the weights sum to one."""

Weigh = Callable[[Reals, Reals], Reals]


@dataclass(frozen=True)
class GroupShares:
    """What the methods say about one sample, (n_classes,) each, or about several groups.

    training: the shares in training. covariate, prior: PCC and SLD. default: of the method in use.
    """

    training: Reals
    covariate: Reals
    prior: Reals
    default: Reals

    @property
    def steps(self) -> Reals:
        """From PCC to the training share and to SLD, (..., n_classes, 2)."""
        return np.stack([self.training - self.covariate, self.prior - self.covariate], axis=-1)

    @property
    def apart(self) -> float:
        """The largest difference between PCC and SLD."""
        return float(np.abs(self.prior - self.covariate).max())


@dataclass(frozen=True, eq=False)
class Past:
    """The shares of periods. last: of the last one; changes: from each period to the next.

    farthest: the largest distance of PCC from the share of the period before.
    """

    last: Reals
    changes: Reals
    farthest: float

    @classmethod
    def of(cls, truth: Reals, covariate: Reals) -> "Past":
        """From the shares of the periods, in order, and what PCC said of them."""
        farthest = float(np.abs(covariate[1:] - truth[:-1]).max())
        return cls(truth[-1], np.diff(truth, axis=0), farthest)


@dataclass(frozen=True, eq=False)
class GroupLesson:
    """How to mix what the methods say, and how far off that was on the groups.

    from_default: how much of the way from the default to this, or in time to PCC, would have been
    an improvement on the groups. weights: of the training share and of SLD, beside that of PCC.
    errors: of the shares of each group, (n_groups, n_classes), by weights from the others, or in
    time of PCC with these weights. apart: the largest difference between PCC and SLD on a group
    that does not refute label shift, or on any period. past: of periods; None of other groups.
    """

    from_default: float
    weights: Reals
    errors: Reals
    apart: float
    past: Past | None = None

    @property
    def in_time(self) -> bool:
        """Whether the groups are periods."""
        return self.past is not None

    @property
    def n_groups(self) -> int:
        """How many groups taught it."""
        return len(self.errors)

    @classmethod
    def of(cls, groups: GroupErrors, covariate: str, prior: str) -> "GroupLesson | None":
        """From the left-out groups; None if there are too few. covariate, prior: the methods."""
        methods = (BASELINE, covariate, prior, groups.method)
        usable = [g for g in groups.groups if g.estimates.keys() >= {*methods}]
        if len(usable) < FEWEST_GROUPS:
            return None
        labels = list(usable[0].prevalence)

        def table(by_group: Sequence[Mapping[str, float]]) -> Reals:
            return np.array([[shares[label] for label in labels] for shares in by_group])

        shares = GroupShares(*(table([g.estimates[method] for g in usable]) for method in methods))
        truth = table([g.prevalence for g in usable])
        weigh = _as_far_as_it_helps(_multiple if groups.in_time else _mixture)
        steps, missed = shares.steps, truth - shares.covariate
        weights = weigh(steps, missed)
        unrefuted = [groups.in_time or not g.refuted for g in usable]
        apart = float(np.abs(steps[unrefuted, :, 1]).max(initial=0.0))
        if not groups.in_time:
            errors = _left_out_errors(weigh, steps, missed)
            from_default = _trust(truth - shares.default, errors)
            return cls(from_default, weights, errors, apart)
        from_default = _trust(truth - shares.default, missed)
        past = Past.of(truth, shares.covariate)
        return cls(from_default, weights, missed - steps @ weights, apart, past)

    def estimate(self, shares: GroupShares, *, supported: bool = False) -> Prevalences:
        """The shares of a sample. supported: whether the items support those of the default."""
        mixed = shares.covariate + shares.steps @ self.weights
        kept = 1 - self.from_default
        if self.in_time:
            mixed += kept * (shares.default - shares.covariate)
        elif supported:
            mixed += kept * (shares.default - mixed)
        mixed = np.maximum(mixed, 0.0)
        return np.asarray(mixed / mixed.sum())

    def applies(self, shares: GroupShares, reason: Reason) -> bool:
        """Whether the groups say anything about a sample. reason: for the kind of its answer.

        Not about an interval in time; and not against the evidence in the items unless the groups
        show that the default errs all the same.
        """
        if self.in_time or reason is Reason.REFUTED:
            return reason in (Reason.REFUTED, Reason.NO_EVIDENCE)
        if reason is Reason.DECLARED or shares.apart > self.apart:
            return False
        return reason is not Reason.EVIDENCE or self.from_default > 0

    def limits(
        self,
        estimate: Prevalences,
        level: float,
        n_items: int,
        low: Reals,
        high: Reals,
        *,
        like_the_past: bool = False,
    ) -> tuple[Reals, Reals]:
        """The limits of the range. low, high: those of the assumptions."""
        around = _around(estimate, self.errors, level, n_items)
        if self.past is None:
            low, high = around
        else:
            reach = np.abs(self.errors).max(axis=0)
            low, high = np.minimum(low, estimate - reach), np.maximum(high, estimate + reach)
            if like_the_past:
                by_changes = _around(self.past.last, self.past.changes, level, n_items)
                low, high = min(((low, high), around, by_changes), key=_widest)
        return np.maximum(low, 0.0), np.minimum(high, 1.0)

    def is_like_the_past(self, shares: GroupShares, reason: Reason) -> bool:
        """Whether a sample differs from the last period as periods differ from each other."""
        if self.past is None:
            return False
        moved = float(np.abs(shares.covariate - self.past.last).max())
        near = reason is Reason.REFUTED or shares.apart <= HARDLY_FURTHER * self.apart
        return near and moved <= HARDLY_FURTHER * self.past.farthest


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

    If these teach nothing about it, the estimate is that of the method in use.
    """
    answers = []
    for i, group in enumerate(groups.groups):
        others = groups.groups[:i]
        if not groups.in_time:
            others += groups.groups[i + 1 :]
        methods = (BASELINE, covariate, prior, groups.method)
        truth, *by_method = (
            np.array([shares[label] for label in group.prevalence])
            for shares in (group.prevalence, *(group.estimates[method] for method in methods))
        )
        shares = GroupShares(*by_method)
        lesson = GroupLesson.of(replace(groups, groups=others), covariate, prior)
        if lesson is not None and not lesson.applies(
            shares, Reason.REFUTED if group.refuted else Reason.NO_EVIDENCE
        ):
            lesson = None
        estimate = shares.default if lesson is None else lesson.estimate(shares)
        low = high = None
        if lesson is not None and not groups.in_time:
            low, high = lesson.limits(estimate, level, group.n_items, estimate, estimate)
        answers.append(LeftOutAnswer(group.name, truth, estimate, low, high))
    return answers


def _around(centre: Reals, errors: Reals, level: float, n_items: int) -> tuple[Reals, Reals]:
    """Limits around shares by the t distribution with these errors, and by sampling."""
    n = len(errors)
    quantile = float(stdtrit(n - 1, 0.5 + level / 2))
    between = (errors**2).mean(axis=0) * (1 + 1 / n)
    reach = quantile * np.sqrt(between + centre * (1 - centre) / n_items)
    return centre - reach, centre + reach


def _widest(limits: tuple[Reals, Reals]) -> float:
    """The width of limits between 0 and 1, for the class where it is largest."""
    low, high = limits
    return float((np.minimum(high, 1.0) - np.maximum(low, 0.0)).max())


def _as_far_as_it_helps(weigh: Weigh) -> Weigh:
    """Weights between none and those of `weigh`."""

    def weights(steps: Reals, missed: Reals) -> Reals:
        trust = _trust(missed, _left_out_errors(weigh, steps, missed))
        return np.asarray(trust * weigh(steps, missed))

    return weights


def _trust(before: Reals, after: Reals) -> float:
    """How far to go from one rule to another, by their errors, (n_groups, n_classes) each."""
    gains = (np.abs(before) - np.abs(after)).mean(axis=1)
    gain, variance = float(gains.mean()), float(gains.var(ddof=1)) / len(gains)
    return max(1 - DOUBT * variance / gain**2, 0.0) if gain > 0 else 0.0


def _left_out_errors(weigh: Weigh, steps: Reals, missed: Reals) -> Reals:
    """The errors on each group by weights from the others, (n_groups, n_classes)."""
    number = np.arange(len(missed))
    return np.stack(
        [missed[i] - steps[i] @ weigh(steps[number != i], missed[number != i]) for i in number]
    )


def _mixture(steps: Reals, missed: Reals) -> Reals:
    """Weights of the training share and of SLD; they and that of PCC are shares of one.

    steps: (n_groups, n_classes, 2); missed: truth - PCC, (n_groups, n_classes).
    """
    X = steps.reshape(-1, 2)
    rows = np.vstack([X, math.sqrt(_penalty(missed)) * np.eye(2), np.full((1, 2), SUM_WEIGHT)])
    of_pcc = np.append(np.zeros(len(rows) - 1), SUM_WEIGHT)
    aims = np.concatenate([missed.reshape(-1), np.zeros(2), [SUM_WEIGHT]])
    weights, _ = nnls(np.column_stack([rows, of_pcc]), aims)
    return np.asarray(weights[:2])


def _multiple(steps: Reals, missed: Reals) -> Reals:
    """The weight of the training share alone, which may be of either sign."""
    x = steps[..., 0].reshape(-1)
    return np.array([x @ missed.reshape(-1) / (x @ x + _penalty(missed)), 0.0])


def _penalty(missed: Reals) -> float:
    """PENALTY for n shares, of which n - 1 are free, because they sum to one."""
    n_classes: int = missed.shape[-1]
    return PENALTY * n_classes / (n_classes - 1)
