"""No labels: the sensitivity and specificity of the judge are known."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from quantshift.base.types import Codes, Prevalences, Reals
from quantshift.errors import DataError, UserError
from quantshift.judging.designs.design import Check, Clue, Design
from quantshift.judging.designs.parts.judge_quality import (
    N_DRAWS,
    JudgeCounts,
    Quality,
    RateTable,
    quality_generator,
    quality_of,
    tails,
)
from quantshift.judging.designs.parts.label_evidence import LabelEvidence
from quantshift.judging.designs.parts.share_estimate import ShareEstimate, no_narrower_than_counted
from quantshift.judging.judged_items import JudgedItems, Settings
from quantshift.judging.sensitivity import GivenRates
from quantshift.labelling import transfer

NO_FIT = (
    "the verdicts do not fit these rates, whatever the shares of the classes: there are fewer "
    "verdicts of a class than false ones alone would make"
)


class Given(Design):
    """Known rates of one judge between two classes, in place of labels."""

    name: ClassVar[str] = "given"
    chosen: ClassVar[str] = "replaced by given rates"
    words: ClassVar[str] = "none: the rates of the judge are given"
    help: ClassVar[str] = ""
    assumption: ClassVar[str] = (
        "The judge's sensitivity and specificity are here what they are said to be."
    )
    source: ClassVar[str] = ""
    cannot_be_stated: ClassVar[str] = (
        "there are no labels; give the sensitivity and specificity of the judge"
    )
    cannot_be_planned: ClassVar[str] = "known rates need no labels"
    labelled_are_items: ClassVar[bool] = True
    shares_labels: ClassVar[bool] = False
    uses_labels: ClassVar[bool] = False

    def is_implied_by(self, items: JudgedItems) -> bool:
        """The rates are given."""
        return items.rates is not None

    def clue(self, items: JudgedItems, evidence: LabelEvidence) -> Clue | None:
        """None: nobody can see it in the data."""
        return None

    def check(
        self,
        items: JudgedItems,
        evidence: LabelEvidence,
        clues: Sequence[Clue],
        settings: Settings,
    ) -> Check:
        """Whether the verdicts can come from these rates; labels beside them are an error."""
        if items.n_classes != 2 or items.verdicts is None or items.verdicts.shape[1] != 1:
            raise UserError(
                "sensitivity and specificity are those of one judge between two classes"
            )
        if items.n_labelled:
            raise UserError(
                "give either labels or a known sensitivity and specificity, not both",
                arguments=["sensitivity", "specificity"],
            )
        fits = bool(_posterior(items, settings).fits[0])
        return Check(ok=fits, sentence="There are no labels to check.")

    def estimate(self, items: JudgedItems, settings: Settings) -> ShareEstimate:
        """The joint posterior of the shares and the rates."""
        rates, classes = _rates(items), _class_codes(items)
        found = _posterior(items, settings)
        p, low, high = found.prevalence[0], found.low[0], found.high[0]
        fits = bool(found.fits[0])
        if not fits:
            low, high = np.zeros(2), np.ones(2)
        low, high = no_narrower_than_counted(p, low, high, len(items), settings.level)
        slope = max(rates.sensitivity.estimate + rates.specificity.estimate - 1, 1e-9)
        moved = (classes - classes.mean()) / slope
        return ShareEstimate(
            prevalence=p,
            low=low,
            high=high,
            by_labels=np.zeros(2),
            by_items=np.zeros(2),
            influence=np.column_stack([-moved, moved]),
            can_be_halved=False,
            why_not="" if fits else NO_FIT,
        )

    def quality(
        self, items: JudgedItems, judge: int, prevalence: Prevalences, settings: Settings
    ) -> Quality:
        """The rates as they are given, and the kappa that follows from them."""
        alpha, N = _alpha(items), _counts(items)
        rates = alpha / alpha.sum(axis=1, keepdims=True)
        p, R = transfer.joint_draws(alpha, N, None, N_DRAWS, settings.seed)
        low, high = np.quantile(R, tails(settings), axis=0)
        found = RateTable(
            table=prevalence[:, np.newaxis] * rates,
            drawn=p[:, :, np.newaxis] * R,
            rates=rates,
            low=low,
            high=high,
            axes=(-1,),
            together=None,
        )
        counts = JudgeCounts(np.zeros((2, 2)), N, prevalence, np.arange(2))
        return quality_of(counts, found, quality_generator(settings), settings)


def _rates(items: JudgedItems) -> GivenRates:
    assert items.rates is not None
    return items.rates


def _alpha(items: JudgedItems) -> Reals:
    """Parameters of the beta distributions of the rates, by class and verdict."""
    rates = _rates(items)
    right, left = rates.sensitivity.beta(), rates.specificity.beta()
    return np.array([left, right[::-1]])


def _class_codes(items: JudgedItems) -> Codes:
    """The class that the judge says of each item."""
    assert items.verdicts is not None
    classes = items.class_of_verdicts(0)[items.verdicts[:, 0]]
    if (classes < 0).any():
        raise DataError("with a known sensitivity every verdict is one of the two classes")
    return classes


def _counts(items: JudgedItems) -> Reals:
    return np.bincount(_class_codes(items), minlength=2).astype(np.float64)


def _posterior(items: JudgedItems, settings: Settings) -> transfer.Transferred:
    return transfer.posterior(
        _alpha(items),
        _counts(items)[np.newaxis],
        None,
        level=settings.level,
        seed=settings.seed,
        power=transfer.LEAST_POWER,
    )
