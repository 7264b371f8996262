"""The answer to a call about several targets: one answer for each, and shares for all of them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from quantshift.answers.batch_names import newest_batch
from quantshift.answers.merging import of_targets, unless_about_all
from quantshift.answers.shares import Share, share_of
from quantshift.answers.show.answer import AboutOneTarget, AbstractAnswer
from quantshift.answers.show.batches import AbstractBatch
from quantshift.answers.show.notebook import batch_line
from quantshift.claims import Grounds, Kind
from quantshift.claims.findings import Finding, Severity

AnswerT = TypeVar("AnswerT", bound=AboutOneTarget)

Limits = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class TargetShare(Share):
    """The share of one target in one batch.

    low, high: limits that hold for this target on its own; low_for_all, high_for_all: for all
        targets of the batch at once (Bonferroni).
    reference: what the share is compared with, that in training or that by the verdicts alone; None
        if there is none.
    """

    low_for_all: float
    high_for_all: float
    reference: float | None
    grounds: Grounds

    @property
    def kind(self) -> Kind:
        """The kind of the answer about the target."""
        return self.grounds.kind

    @property
    def difference(self) -> float | None:
        """How far the estimate is from the reference; None without either."""
        if self.estimate is None or self.reference is None:
            return None
        return self.estimate - self.reference

    @property
    def for_all(self) -> Share:
        """The share between the limits that hold for all targets at once."""
        return Share(self.label, self.estimate, self.low_for_all, self.high_for_all)


@dataclass(frozen=True, repr=False)
class TargetsBatch:
    """One sample. shares: of all targets, the largest difference from its reference first."""

    name: str
    n_items: int
    shares: tuple[TargetShare, ...]

    @property
    def can_be_estimated(self) -> bool:
        """Whether every target can be estimated."""
        return all(share.kind is not Kind.CANNOT for share in self.shares)

    @property
    def condition(self) -> str:
        """None for all targets: each of the answers has its own."""
        return ""

    def grounds_of(self, label: str) -> Grounds:
        """What the answer about a target stands on."""
        return next(share.grounds for share in self.shares if share.label == label)

    def __repr__(self) -> str:
        """The shares in a line."""
        return batch_line(self)


@dataclass(frozen=True, repr=False)
class AbstractTargetAnswers(AbstractAnswer, Generic[AnswerT]):
    """What is found about several targets; `TargetAnswers` says what the fields are."""

    targets: tuple[str, ...]
    level: float
    level_for_all: float
    batches: tuple[TargetsBatch, ...]
    findings: tuple[Finding, ...]
    answers: Mapping[str, AnswerT]

    @classmethod
    def of(
        cls,
        answers: Mapping[str, AnswerT],
        for_all: Mapping[str, Sequence[Limits]],
        level_for_all: float,
        findings: Sequence[Finding] = (),
    ) -> Self:
        """The answers to all targets as one; all have the same batches.

        for_all: the limits of each target in every batch that hold for all of them. findings: those
        that rest on more than one target.
        """
        first = next(iter(answers.values()))
        batches = []
        for i, batch in enumerate(first.batches):
            own = {target: answer.batches[i] for target, answer in answers.items()}
            shares = [
                _share(answers[target], batch, target, for_all[target][i])
                for target, batch in own.items()
            ]
            shares.sort(key=lambda s: (s.difference is None, -abs(s.difference or 0.0)))
            n_items = max(batch.n_items for batch in own.values())
            batches.append(TargetsBatch(batch.name, n_items, tuple(shares)))
        found = of_targets({target: _findings(answer) for target, answer in answers.items()})
        return cls(
            tuple(answers),
            first.level,
            level_for_all,
            tuple(batches),
            (*findings, *found),
            answers,
        )

    @property
    def classes(self) -> tuple[str, ...]:
        """The targets, each of which takes the place of a class."""
        return self.targets

    @property
    def names(self) -> dict[str, str]:
        """How targets are shown."""
        return {target: target for target in self.targets}

    @property
    def headline(self) -> str:
        """The target that is furthest from its reference in the newest batch."""
        return newest_batch(self.batches).shares[0].label

    @property
    def parts(self) -> Mapping[str, AboutOneTarget]:
        """The answers."""
        return self.answers

    @property
    def said_warnings(self) -> list[str]:
        """What is said as a warning, with the targets that it is about unless all."""
        warnings = (found for found in self.findings if found.severity is Severity.WARNING)
        return unless_about_all(warnings, len(self.targets))

    @property
    def first(self) -> AnswerT:
        """The answer to one of the targets, for what all have in common."""
        return self.answers[self.targets[0]]

    @property
    def can_be_estimated(self) -> bool:
        """Whether every target has an estimate in every batch, or two of which one holds."""
        return all(share.is_known for batch in self.batches for share in batch.shares)

    @property
    def questions(self) -> tuple[str, ...]:
        """What has to be said of the labels of all targets, each question once."""
        asked = (question for answer in self.answers.values() for question in answer.questions)
        return tuple(dict.fromkeys(asked))

    def own_batch(self, batch: TargetsBatch, target: str) -> AbstractBatch:
        """What the answer to a target alone says of a batch."""
        return next(own for own in self.answers[target].batches if own.name == batch.name)

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_frame`: those of each answer about its target, with limits for all."""
        own: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        for target, answer in self.answers.items():
            for row in answer.records():
                if row["class"] == target:
                    own[target, row["batch"]].append(row)
        for batch in self.batches:
            for share in batch.shares:
                more = {
                    "low_for_all": share.low_for_all,
                    "high_for_all": share.high_for_all,
                    "difference": share.difference,
                }
                yield from ({**row, **more} for row in own[share.label, batch.name])


def _share(
    answer: AboutOneTarget, batch: AbstractBatch, target: str, for_all: Limits
) -> TargetShare:
    own = share_of(batch, target)
    return TargetShare(
        *(own.label, own.estimate, own.low, own.high, own.either),
        low_for_all=for_all[0],
        high_for_all=for_all[1],
        reference=answer.reference(batch),
        grounds=batch.grounds,
    )


def _findings(answer: AboutOneTarget) -> list[Finding]:
    """Warnings and notes; those of the only batch are not about a part of the answer."""
    several = len(answer.batches) > 1
    return [
        found if several else replace(found, about=replace(found.about, batch=None))
        for found in answer.all_findings()
        if found.severity is not Severity.ADVICE
    ]
