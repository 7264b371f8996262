"""The threshold of a score judge, at or above which an item is called positive.

A cut is chosen on labelled items: the one that agrees best with people, or the one with the largest
recall of those that reach a target precision, or the reverse. On the same labels it looks better
than it is, because it was chosen to. What is reported is therefore out of sample: the labels are
divided into folds, a cut is chosen without each fold and tried on it, and this is repeated with
other folds. Limits are those of counting, allowing for cuts that depend on each other.
"""

import re
from dataclasses import dataclass

import numpy as np

from quantshift.base.seeding import generator
from quantshift.base.types import Flags, Reals
from quantshift.claims import Estimated
from quantshift.errors import UserError
from quantshift.judging.estimating.labelled_items import LabelledItems
from quantshift.judging.items.judged_items import Settings
from quantshift.judging.result import Threshold
from quantshift.labelling.audit import counted_limits

AGREEMENT, PRECISION, RECALL = MEASURES = "agreement", "precision", "recall"
N_FOLDS, N_REPEATS = 10, 20
FEWEST_LABELS = 20
"""With fewer labels no cut is chosen."""
FEWEST_OF_CLASS = 5
COUNTS_AS = 0.6
"""The part of a label that each label counts for. Cuts of different folds are alike, so that limits
of counting are too narrow: in twelve settings of normal scores with 60 and 200 labels 95% limits
held in 83% to 96% of the cases, and with this in 91% to 99%."""

_TARGET = re.compile(rf"({PRECISION}|{RECALL})\s*=\s*([0-9.]+)\s*(%?)")


@dataclass(frozen=True)
class CutRule:
    """What a cut is chosen for: agreement, or a precision or recall that it must reach."""

    goal: str
    target: float | None = None

    @classmethod
    def parse(cls, written: str) -> "CutRule":
        """The rule that a user writes.

        >>> CutRule.parse("precision=90%")
        CutRule(goal='precision', target=0.9)
        """
        match = _TARGET.fullmatch(written.strip().casefold())
        if match is not None:
            target = float(match[2]) / (100 if match[3] else 1)
            if 0 < target <= 1:
                return cls(match[1], target)
        elif written.strip().casefold() == AGREEMENT:
            return cls(AGREEMENT)
        raise UserError(
            f"{written!r} is not a goal of a cut; write {AGREEMENT}, {PRECISION}=0.9 or "
            f"{RECALL}=0.9",
            arguments=["cut"],
        )


@dataclass(frozen=True, eq=False)
class _Scored:
    """Labelled items in ascending order of scores that rise with the class."""

    score: Reals
    positive: Flags
    weights: Reals

    @classmethod
    def of(cls, score: Reals, positive: Flags, weights: Reals) -> "_Scored":
        order = np.argsort(score, kind="stable")
        return cls(score[order], positive[order], weights[order])

    def best_cut(self, rule: CutRule) -> float | None:
        """Items with this score or a higher one are positive; None if no cut reaches the target."""
        w, p = self.weights, self.weights * self.positive
        first = np.flatnonzero(np.diff(self.score, prepend=-np.inf) > 0)
        called = w.sum() - np.append(0.0, np.cumsum(w))[first]
        right = p.sum() - np.append(0.0, np.cumsum(p))[first]
        agreement = right + (w.sum() - called) - (p.sum() - right)
        precision, recall = right / called, right / max(p.sum(), 1e-300)
        reached = {
            AGREEMENT: np.ones(len(first), dtype=bool),
            PRECISION: precision >= (rule.target or 0) - 1e-12,
            RECALL: recall >= (rule.target or 0) - 1e-12,
        }[rule.goal]
        if not reached.any():
            return None
        value = {AGREEMENT: agreement, PRECISION: recall, RECALL: precision}[rule.goal]
        i = int(np.argmax(np.where(reached, value, -np.inf)))
        below = self.score[first[i - 1]] if i else self.score[0]
        return float((below + self.score[first[i]]) / 2)


def threshold(
    labelled: LabelledItems,
    scores: tuple[Reals, Reals],
    lead: int,
    rule: CutRule,
    settings: Settings,
) -> Threshold:
    """The cut for a class; scores: those of the labelled items, and of all."""
    score, every = scores
    positive = np.asarray(labelled.labels == lead)
    if min(positive.sum(), (~positive).sum()) < FEWEST_OF_CLASS or len(labelled) < FEWEST_LABELS:
        raise UserError(
            f"a cut of the score needs {FEWEST_LABELS} labels or more, {FEWEST_OF_CLASS} of each "
            f"class, and there are {len(labelled)}, {int(positive.sum())} of the class; label more",
            arguments=["cut"],
        )
    w = labelled.weights
    rises = bool(_mean(score, positive * w) >= _mean(score, ~positive * w))
    sign = 1.0 if rises else -1.0
    cut = _Scored.of(sign * score, positive, w).best_cut(rule)
    if cut is None:
        return Threshold(rule.goal, rule.target, labelled.meaning.classes[lead], None, rises)
    tried = _out_of_fold(sign * score, positive, labelled, rule, settings.seed)
    on_labels = _performance(sign * score >= cut, positive, w)
    return Threshold(
        goal=rule.goal,
        target=rule.target,
        label=labelled.meaning.classes[lead],
        cut=sign * cut,
        at_least=rises,
        share=float((sign * every >= cut).mean()),
        on_labels=dict(zip(MEASURES, on_labels, strict=True)),
        out_of_sample=_with_limits(tried, positive, labelled, settings.level),
    )


def _mean(values: Reals, weights: Reals) -> float:
    return float((values * weights).sum() / weights.sum())


def _out_of_fold(
    score: Reals, positive: Flags, labelled: LabelledItems, rule: CutRule, seed: int
) -> Reals:
    """How often each item is called positive by cuts that were chosen without it, (n,)."""
    units = np.arange(len(score)) if labelled.clusters is None else labelled.clusters
    names, codes = np.unique(units, return_inverse=True)
    rng = generator(seed, purpose="judge", side="cut")
    called = np.zeros(len(score))
    for _ in range(N_REPEATS):
        fold = (rng.permutation(len(names)) % min(N_FOLDS, len(names)))[codes.ravel()]
        for f in np.unique(fold):
            test = fold == f
            train = _Scored.of(score[~test], positive[~test], labelled.weights[~test])
            cut = train.best_cut(rule)
            called[test] += 0 if cut is None else score[test] >= cut
    return called / N_REPEATS


def _performance(called: Reals | Flags, positive: Flags, w: Reals) -> tuple[float, float, float]:
    """Agreement, precision and recall; called: the chance that an item is called positive."""
    yes = called * w
    right = float((yes * positive).sum())
    agreement = (right + float(((1 - called) * w * ~positive).sum())) / float(w.sum())
    precision = right / float(yes.sum()) if yes.sum() else 1.0
    return agreement, precision, right / float((w * positive).sum())


def _with_limits(
    called: Reals, positive: Flags, labelled: LabelledItems, level: float
) -> tuple[Estimated, ...]:
    """The same with limits of counting as many labels as they rest on."""
    w = labelled.weights
    performance = _performance(called, positive, w)
    wrong = np.where(positive, 1 - called, called)
    parts = (w, w * called, w * positive)
    rows = []
    for name, estimate, part in zip(MEASURES, performance, parts, strict=True):
        n = float(part.sum() ** 2 / (part**2).sum()) if part.any() else 0.0
        n *= COUNTS_AS / _together(
            part * (wrong - _mean(wrong, part)) if part.any() else wrong, labelled
        )
        if n <= 0:
            rows.append(Estimated(name, estimate, 0.0, 1.0))
            continue
        low, high = counted_limits(np.array([1 - estimate, estimate]), n, level=level)
        rows.append(Estimated(name, estimate, float(low[1]), float(high[1])))
    return tuple(rows)


def _together(added: Reals, labelled: LabelledItems) -> float:
    """How many labels count as one because those of a cluster are alike; 1 if they are not."""
    if labelled.clusters is None or not added.any():
        return 1.0
    sums = labelled.sums(added[:, np.newaxis])
    return max(float((sums**2).sum() / (added**2).sum()), 1.0)
