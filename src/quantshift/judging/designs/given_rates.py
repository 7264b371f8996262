"""No labels: the sensitivity and specificity of the judge are known."""

from dataclasses import replace

import numpy as np

from quantshift.base.types import Codes, Reals
from quantshift.claims import Assumption
from quantshift.errors import DataError, UserError
from quantshift.judging.designs.design import Check, Design, LabelsStandFor
from quantshift.judging.designs.parts.judge_quality import (
    N_DRAWS,
    JudgeCounts,
    Quality,
    RateTable,
    quality_generator,
    quality_of,
    tails,
)
from quantshift.judging.designs.parts.label_evidence import Clue, LabelEvidence
from quantshift.judging.designs.parts.share_estimate import (
    ShareEstimate,
    item_counts,
    no_narrower_than_counted,
)
from quantshift.judging.items.judged_items import JudgedItems, Settings
from quantshift.judging.sensitivity import GivenRates
from quantshift.labelling import transfer

NO_FIT = (
    "the verdicts do not fit these rates, whatever the shares of the classes: there are fewer "
    "verdicts of a class than false ones alone would make"
)
A_COIN = (
    "with these rates either class gets each verdict equally often, so that verdicts say nothing "
    "about the shares"
)


class KnownRates(Design):
    """Known rates of one judge between two classes, in place of labels."""

    name = "given"
    chosen = "replaced by given rates"
    words = "none: the rates of the judge are given"
    help = ""
    assumption = "The judge's sensitivity and specificity are here what they are said to be."
    declares = Assumption.GIVEN_RATES
    source = ""
    cannot_be_stated = "there are no labels; give the sensitivity and specificity of the judge"
    cannot_be_planned = "known rates need no labels"
    labelled_are_items = True
    shares_labels = False
    uses_labels = False
    labels_stand_for = LabelsStandFor.THEMSELVES

    def is_implied_by(self, items: JudgedItems) -> bool:
        """The rates are given."""
        return items.rates is not None

    def clue(self, items: JudgedItems, evidence: LabelEvidence) -> Clue | None:
        """None: nobody can see it in the data."""
        return None

    def check(self, items: JudgedItems, evidence: LabelEvidence, settings: Settings) -> Check:
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
        self._refuse_contradiction(items)
        fits = bool(_posterior(items, settings).fits[0])
        return Check(ok=fits, sentence="There are no labels to check.")

    def _refuse_contradiction(self, items: JudgedItems) -> None:
        """Refuse rates that do not allow for so many positive verdicts, whatever is true."""
        rates, counts = _rates(items), _counts(items)
        n, positive_share = counts.sum(), counts[1] / counts.sum()
        if items.clusters is not None:
            n = len(np.unique(items.clusters))
        right, other = rates.sensitivity, rates.specificity
        ends = sorted([right.estimate, 1 - other.estimate])
        low, high = min(right.low, 1 - other.high), max(right.high, 1 - other.low)
        if rates.is_coin or low - _slack(low, n) <= positive_share <= high + _slack(high, n):
            return
        name = items.meaning.classes[1]
        raise UserError(
            f"{positive_share:.1%} of the verdicts are {name!r}; with these rates it would be "
            f"between {ends[0]:.1%} and {ends[1]:.1%}, whatever is true; check the sensitivity and "
            "the specificity, and which class is the positive one",
            arguments=["sensitivity", "specificity", "positive"],
        )

    def estimate(self, items: JudgedItems, settings: Settings) -> ShareEstimate:
        """The joint posterior of the shares and the rates."""
        rates, classes = _rates(items), _class_codes(items)
        posterior = _posterior(items, settings)
        p, low, high = posterior.prevalence[0], posterior.low[0], posterior.high[0]
        fits = bool(posterior.fits[0])
        if not fits:
            low, high = np.zeros(2), np.ones(2)
        if not settings.of_items:
            n_items = round(float(_counts(items).sum()))
            low, high = no_narrower_than_counted(p, low, high, n_items, settings.level)
        slope = max(rates.sensitivity.estimate + rates.specificity.estimate - 1, 1e-9)
        w = items.item_weights
        moved = w * (classes - w @ classes / w.sum()) / slope
        return ShareEstimate(
            prevalence=p,
            low=low,
            high=high,
            by_labels=np.zeros(2),
            by_items=np.zeros(2),
            influence=np.column_stack([-moved, moved]),
            can_be_halved=False,
            no_estimate_reason="" if fits else (A_COIN if rates.is_coin else NO_FIT),
        )

    def quality(self, items: JudgedItems, counts: JudgeCounts, settings: Settings) -> Quality:
        """The rates as they are given, and the kappa that follows from them."""
        alpha, N, p = _alpha(items), _counts(items), counts.prevalence
        rates = alpha / alpha.sum(axis=1, keepdims=True)
        shares, drawn = transfer.joint_draws(alpha, N, None, N_DRAWS, settings.seed)
        low, high = np.quantile(drawn, tails(settings), axis=0)
        rate_table = RateTable(
            table=p[:, np.newaxis] * rates,
            drawn=shares[:, :, np.newaxis] * drawn,
            rates=rates,
            low=low,
            high=high,
            axes=(-1,),
            together=None,
        )
        by_class = JudgeCounts(np.zeros((2, 2)), N, p, np.arange(2))
        quality = quality_of(by_class, rate_table, quality_generator(settings), settings)
        return _of_verdicts(quality, counts.classes)


def _slack(share: float, n: float) -> float:
    """Three standard errors of a share among n items."""
    return float(3 * np.sqrt(share * (1 - share) / n) + 1e-9)


def _of_verdicts(quality: Quality, classes: Codes) -> Quality:
    """The same with the rates of verdicts instead of classes; several verdicts may say one class.

    How often a class gets each of several is not known.
    """
    alone = np.bincount(classes)[classes] == 1
    low, rates, high = (
        np.where(alone, of_classes[:, classes], np.nan)
        for of_classes in (quality.rates_low, quality.rates, quality.rates_high)
    )
    return replace(quality, rates=rates, rates_low=low, rates_high=high)


def _rates(items: JudgedItems) -> GivenRates:
    assert items.rates is not None
    return items.rates


def _alpha(items: JudgedItems) -> Reals:
    """Parameters of the beta distributions of the rates, by class and verdict."""
    rates = _rates(items)
    right, left = rates.sensitivity.beta(), rates.specificity.beta()
    return np.array([left, right[::-1]])


def _class_codes(items: JudgedItems) -> Codes:
    """The class that the judge gives to each item."""
    classes = items.class_of_verdicts(0)[items.given_verdicts[:, 0]]
    if (classes < 0).any():
        raise DataError("with a known sensitivity every verdict is one of the two classes")
    return classes


def _counts(items: JudgedItems) -> Reals:
    return item_counts(_class_codes(items), 2, items.weights)


def _posterior(items: JudgedItems, settings: Settings) -> transfer.Transferred:
    def posterior_of(counts: Reals) -> transfer.Transferred:
        return transfer.posterior(
            _alpha(items),
            counts[np.newaxis],
            None,
            level=settings.level,
            seed=settings.seed,
            power=transfer.LEAST_POWER,
        )

    counts = _counts(items)
    of_population = posterior_of(counts)
    if not settings.of_items:
        return of_population
    gain = transfer.gain_of_known_items(_alpha(items), None, of_population.prevalence[0])
    return posterior_of(gain * counts)
