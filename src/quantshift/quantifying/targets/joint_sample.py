"""Labels that are answered together, where the answer about one of them alone is only a range.

When the share of a label moves, the items of other labels look different, and each of these labels
is refuted on its own: its answer is a range. `multilabel.joint` tests whether changed shares of the
labels and of their combinations explain the items instead. If nothing contradicts that, the answer
is an interval by the same rules as for one label, with the joint model in place of label shift:

    evidence     the usual changes in the mix of items would look different: the joint estimate,
                 with its limits
    agreement    the joint estimate and the mean posterior are similar: the middle of the two, with
                 limits that cover both
    otherwise    the middle of the two, with a range that contains both, and the label's own range,
                 if the label on its own is refuted

In all other cases the label's own answer stays, as do intervals of its own and what rests on an
assumption that was declared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from quantshift.base.progress import OnProgress
from quantshift.base.seeding import generator
from quantshift.base.types import Flags, Indices, Posteriors, Prevalences, Reals
from quantshift.claims import Alternative, Assumption, Explanation, Facts, Reason, decide
from quantshift.intervals.targets import ITEMS
from quantshift.items.items import Items
from quantshift.multilabel.joint.joint_shift import (
    MOST_ITEMS,
    JointFinding,
    JointSample,
    JointShift,
)
from quantshift.multilabel.related_labels import related_groups
from quantshift.multilabel.tilted_label_sets import TiltedLabelSets
from quantshift.quantifiers.base.guarding import NORMAL, AbstractGuarded, covariate_limits
from quantshift.quantifying.estimating.row_sample import RowSample
from quantshift.quantifying.estimating.unlabelled import Evidence
from quantshift.quantifying.options import AUTO, EstimationOptions
from quantshift.quantifying.result import Batch, Shift
from quantshift.quantifying.targets.training import TargetModels
from quantshift.quantifying.training.model import Model

LARGEST_GROUP = 10
"""Labels that are estimated together; of more, the most strongly related ones."""

FEWEST_ITEMS = 20
"""Smaller batches are not examined: no test could contradict anything."""


@dataclass(frozen=True, eq=False)
class _Seen:
    """Some items of a batch as the models of a group of labels see them, and what they show.

    calibrated: of each label by each of its models, (n_members, n_items) each.
    """

    sample: JointSample
    calibrated: Sequence[Posteriors]
    finding: JointFinding

    def if_covariate(self, j: int, level: float, *, of_items: bool) -> Reals:
        """The mean posterior of the j-th label, and its limits."""
        shares = self.sample.weights / self.sample.weights.sum()
        q = self.calibrated[j].mean(axis=0)
        p = q @ shares
        variance = (q * (1 - q)) @ shares if of_items else p * (1 - p)
        members = (self.calibrated[j] @ shares)[:, np.newaxis]
        low, high = covariate_limits(
            np.array([[p]]), members, np.array([variance / self.sample.size])
        )
        ratio = float(ndtri((1 + level) / 2)) / NORMAL
        return np.array(
            [p, max(0.0, p - ratio * (p - low[0])), min(1.0, p + ratio * (high[0] - p))]
        )

    def if_joint(self, j: int, level: float, *, of_items: bool) -> Reals:
        """The joint estimate of the j-th label, and its limits."""
        low, high = self.finding.limits(level, of_items=of_items)
        return np.array([self.finding.estimate[j], low[j], high[j]])


@dataclass(frozen=True, eq=False)
class TargetsTogether:
    """The labels of all models, and the items that were read, for answers about several labels.

    items: the features of the items that were read; batches: the positions of each batch.
    """

    models: TargetModels
    items: Items
    batches: Mapping[str, Indices]
    seed: int
    _shifts: dict[int, JointShift] = field(default_factory=dict)
    _seen: dict[tuple[int, str], _Seen] = field(default_factory=dict)

    @cached_property
    def _has(self) -> Flags:
        """Which labels the training items have."""
        return np.column_stack([model.held_out[1] == 1 for model in self.models.models])

    @cached_property
    def _groups(self) -> list[Indices]:
        weights = self.models.models[0].base.held_out_.weights
        groups = related_groups(self._has, LARGEST_GROUP, weights)
        # By name, so that the order of the columns does not matter.
        return [np.array(sorted(group, key=self.models.targets.__getitem__)) for group in groups]

    def can_help(self, model: Model, options: EstimationOptions) -> bool:
        """Whether the labels can be answered together: nothing else is known or declared."""
        return (
            options.declared.assumption == AUTO and model.groups is None and model.guard is not None
        )

    def evidence(
        self, label: str, own: Mapping[str, Evidence], options: EstimationOptions
    ) -> dict[str, Evidence]:
        """The evidence on a label in each batch. own: that of the label alone."""
        j = self.models.targets.index(label)
        number = next(k for k, group in enumerate(self._groups) if j in group)
        position = self._groups[number].tolist().index(j)
        revised = dict(own)
        for name, evidence in own.items():
            is_open = evidence.grounds.kind.is_range and not evidence.no_estimate_reason
            if is_open and (seen := self._examined(number, name)) is not None:
                revised[name] = _revised(evidence, seen, position, label, options)
        return revised

    def _examined(self, number: int, name: str) -> _Seen | None:
        """What a batch shows about the labels of a group; None if it shows nothing."""
        group, rows = self._groups[number], self._rows(name)
        if len(group) < 2 or len(rows) < FEWEST_ITEMS:
            return None
        if number not in self._shifts:
            self._shifts[number] = self._fitted(group)
        shift = self._shifts[number]
        if shift.power == 0:
            return None
        if (number, name) not in self._seen:
            self._seen[number, name] = self._looked_at(group, rows, shift)
        return self._seen[number, name]

    def _rows(self, name: str) -> Indices:
        """The items of a batch that are examined."""
        rows, weights = self.batches[name], self.items.weights
        rows = rows if weights is None else rows[weights[rows] > 0]
        if len(rows) <= MOST_ITEMS:
            return rows
        rng = generator(self.seed, purpose="labels together: items", n_items=len(rows))
        return np.sort(rng.choice(rows, MOST_ITEMS, replace=False))

    def _guard(self, j: int) -> AbstractGuarded:
        guard = self.models.models[j].guard
        assert guard is not None
        return guard

    def _fitted(self, group: Indices) -> JointShift:
        held_out = [self.models.models[j].held_out[0][:, 1] for j in group]
        guard = self._guard(group[0])
        return JointShift.fit(
            np.column_stack(held_out),
            self._has[:, group],
            guard.reference_,
            sample_weight=guard.held_out_.weights,
            tests_columns=guard.training_positions() is not None,
            seed=self.seed,
        )

    def _looked_at(self, group: Indices, rows: Indices, shift: JointShift) -> _Seen:
        features = self.items.take(rows)
        committees, calibrated = [], []
        for j in group:
            model, guard = self.models.models[j], self._guard(j)
            items = model.items_of(features.features, features.weights)
            committee = guard.unguarded_items(items).committee
            assert committee is not None
            committees.append(committee[:, :, 1])
            calibrated.append(guard.calibrated_members(items)[:, :, 1])
        # Rare labels have fewer folds: their models take part more than once.
        most = max(map(len, committees))
        together = np.stack([members[np.arange(most) % len(members)] for members in committees], -1)
        weights = np.ones(len(rows)) if features.weights is None else features.weights
        sample = JointSample(together, guard.positions(items), weights)
        return _Seen(sample, calibrated, shift.examine(sample))


@dataclass(frozen=True, eq=False, kw_only=True)
class SampleOfTarget(RowSample):
    """The items of a call for one of several targets, which may be answered together."""

    together: TargetsTogether
    _alone: dict[str, Evidence] = field(default_factory=dict)

    @classmethod
    def of(cls, alone: RowSample, together: TargetsTogether) -> "SampleOfTarget":
        """The sample of a target on its own, with those of the others beside it."""
        own = {each.name: getattr(alone, each.name) for each in fields(alone)}
        return cls(**own, together=together)

    def evidence(  # noqa: D102
        self, options: EstimationOptions, seed: int, progress: OnProgress
    ) -> Mapping[str, Evidence]:
        own = super().evidence(options, seed, progress)
        self._alone.update(own)
        if not self.together.can_help(self.model, options):
            return own
        return self.together.evidence(self.model.headline, own, options)

    def completed(self, batch: Batch, evidence: Evidence) -> Batch:  # noqa: D102
        # The other labels of the items with this one have changed, too: how good its classifier is
        # rests on what is known of the target alone.
        return super().completed(batch, self._alone[batch.name])


def _revised(
    evidence: Evidence, seen: _Seen, j: int, label: str, options: EstimationOptions
) -> Evidence:
    """The evidence on the j-th label of a group, where it is a range for the label alone."""
    finding, of_items = seen.finding, options.of == ITEMS
    if finding.refuted:
        return evidence
    joint = seen.if_joint(j, options.level, of_items=of_items)
    mean = seen.if_covariate(j, options.level, of_items=of_items)
    both = np.array([(joint[0] + mean[0]) / 2, min(joint[1], mean[1]), max(joint[2], mean[2])])
    # A joint estimate within the limits of the mean posterior cannot tell the two apart.
    doubles = None if mean[1] <= joint[0] <= mean[2] else finding.doubles
    facts = Facts(
        Assumption.JOINT,
        doubles=1.0 if doubles is None else doubles,
        apart=float(abs(joint[0] - mean[0])),
        allowed=float(both[2] - both[1]),
    )
    reason = decide(facts).reason
    if reason is Reason.EVIDENCE:
        shares = joint
    elif reason is Reason.AGREEMENT:
        shares = both
    elif evidence.grounds.reason is not Reason.REFUTED:
        return evidence
    else:
        own = evidence.interval
        shares = np.array([both[0], min(both[1], own.low[1]), max(both[2], own.high[1])])
    p_hat, low, high = shares
    interval = replace(
        evidence.interval,
        prevalence=np.array([1 - p_hat, p_hat]),
        low=np.array([1 - high, low]),
        high=np.array([1 - low, high]),
        replicates=_replicates(evidence.interval.replicates, finding, j, float(p_hat)),
    )
    return replace(
        evidence,
        interval=replace(interval, bias=interval.replicates.mean(axis=0) - interval.prevalence),
        alternatives=_alternatives(evidence, label, float(joint[0]), float(mean[0])),
        shift=Shift(
            rejected=False,
            kind=Explanation.JOINT,
            p_value=finding.p_value,
            auc=finding.auc,
            explained=finding.explained,
            p_doubles=doubles,
        ),
        facts=facts,
        support=None,
    )


def _alternatives(
    evidence: Evidence, label: str, joint: float, mean: float
) -> tuple[Alternative, ...]:
    """The joint estimate first, then those of the label alone."""
    names = evidence.alternatives[0].prevalence
    prevalence = {name: joint if name == label else 1 - joint for name in names}
    together = Alternative(Assumption.JOINT, TiltedLabelSets.__name__, prevalence)
    rest = [a for a in evidence.alternatives if a.assumption is not Assumption.BETWEEN]
    return together, *sorted(rest, key=lambda a: a.assumption is not Assumption.COVARIATE)


def _replicates(own: Prevalences, finding: JointFinding, j: int, p_hat: float) -> Prevalences:
    """Replicates of a joint estimate, as many as the label's own, for comparing batches."""
    errors = finding.errors[:, j] - finding.errors[:, j].mean()
    repeated = np.resize(errors, len(own))
    p = np.clip(p_hat + repeated, 0.0, 1.0)
    return np.column_stack([1 - p, p])
