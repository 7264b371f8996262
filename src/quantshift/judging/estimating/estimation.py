"""The true rate behind verdicts: the estimator that is right for how the labels were chosen.

random, by-verdict, or with known strata or probabilities of being chosen: shares of the strata
times their rates (`strata`); random with scores or several judges: the audit, with what they say
as posteriors. by-label and elsewhere: the joint posterior of prevalence and rates (`transfer`). The
labelled items are part of the sample unless they are from elsewhere: of those chosen by label the
classes are known, and the posterior is that of the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

from quantshift.base.types import Prevalences, Reals
from quantshift.errors import DataError, UserError, check_level
from quantshift.judging.estimating.answers import (
    Answer,
    at_random,
    by_stratum,
    calibrated_elsewhere,
    no_narrower_than_counted,
    nothing_known,
    table,
    transferred,
)
from quantshift.judging.estimating.combination import EQUAL, averaged, weight_of_first
from quantshift.judging.estimating.designs import Check, check, guessed
from quantshift.judging.estimating.items import TRANSFERRING, JudgedItems
from quantshift.judging.estimating.quality import Quality, quality
from quantshift.labelling import transfer

RARELY = 0.05
"""Chance of missing all items of a verdict below which it is not put down to chance."""

CERTAIN = 1e9
"""Items that a rate without limits is taken to be known from."""


@dataclass(frozen=True)
class GivenRate:
    """A sensitivity or specificity that is known from elsewhere, with its 95% limits if any."""

    estimate: float
    low: float | None = None
    high: float | None = None

    def beta(self) -> tuple[float, float]:
        """Parameters of the beta distribution with this mean and these limits, right and wrong."""
        low = self.estimate if self.low is None else self.low
        high = self.estimate if self.high is None else self.high
        if not 0 <= low <= self.estimate <= high <= 1:
            raise UserError(
                f"a rate and its limits are between 0 and 1 and in order, got {self.estimate}, "
                f"{low} and {high}"
            )
        mean = float(np.clip(self.estimate, 1e-6, 1 - 1e-6))
        if high - low < 1e-6:
            return CERTAIN * mean, CERTAIN * (1 - mean)

        def excess(log_n: float) -> float:
            n = np.exp(log_n)
            found = stats.beta.ppf([0.025, 0.975], n * mean, n * (1 - mean))
            return float(found[1] - found[0]) - (high - low)

        ends = (np.log(0.1), np.log(CERTAIN))
        if excess(ends[0]) < 0:
            return 0.5, 0.5
        n = float(np.exp(optimize.brentq(excess, *ends)))
        return n * mean, n * (1 - mean)


@dataclass(frozen=True, eq=False)
class Judged:
    """The shares of the classes among all items, and all that goes with them.

    prevalence, low, high: (n_classes,).
    judges: one `Quality` per judge, in the order given; none if there are scores alone. `naive`,
        `rates`, ..., `kappa_high` are those of the first.
    check: what the data say of the design; assumed: one sentence on what the answer rests on.
    notes: further sentences the user should read.
    range_low, range_high: for labels from elsewhere, the limits if what a verdict means is the
        same among these items and those, instead of how often a class gets it; None otherwise.
    labels_for_half_width: labels in all for an interval of half the width; None if more labels of
        these items cannot do it.
    influence: what each item adds to the estimate, to first order, (n_items, n_classes), and
        `influence_elsewhere` the same of items labelled elsewhere; for differences.
    why_not: why the shares cannot be estimated; their limits then are what remains possible.
    """

    prevalence: Prevalences
    low: Reals
    high: Reals
    level: float
    design: str
    n_items: int
    n_labelled: int
    judges: tuple[Quality, ...]
    check: Check
    assumed: str
    notes: tuple[str, ...]
    range_low: Reals | None
    range_high: Reals | None
    labels_for_half_width: int | None
    influence: Reals
    influence_elsewhere: Reals | None
    why_not: str = ""

    @property
    def naive(self) -> Prevalences:
        """Shares of the classes by the first judge's verdicts."""
        return self.judges[0].naive

    @property
    def rates(self) -> Reals:
        """P(verdict | class) of the first judge."""
        return self.judges[0].rates

    @property
    def rates_low(self) -> Reals:
        """Their lower limits."""
        return self.judges[0].rates_low

    @property
    def rates_high(self) -> Reals:
        """Their upper limits."""
        return self.judges[0].rates_high

    @property
    def kappa(self) -> float:
        """Agreement of the first judge with people."""
        return self.judges[0].kappa

    @property
    def kappa_low(self) -> float:
        """Its lower limit."""
        return self.judges[0].kappa_low

    @property
    def kappa_high(self) -> float:
        """Its upper limit."""
        return self.judges[0].kappa_high


def estimate(
    verdicts: ArrayLike | None,
    labels: ArrayLike,
    n_classes: int,
    *,
    design: str | None = None,
    score: ArrayLike | None = None,
    level: float = 0.95,
    inclusion: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    elsewhere: tuple[ArrayLike, ArrayLike] | None = None,
    sensitivity: GivenRate | None = None,
    specificity: GivenRate | None = None,
    verdict_classes: Sequence[ArrayLike] | None = None,
    verdict_names: Sequence[str] | None = None,
    ordered: bool = False,
    insist: bool = False,
    seed: int = 0,
) -> Judged:
    """The shares of the classes among all items, some of which are labelled.

    verdicts: codes, (n_items,) or (n_items, n_judges), or None with scores alone. The verdict c
        says the class c; if a judge's verdicts are others, give `verdict_classes`: for each judge
        the class that each verdict says, -1 for none.
    labels: codes of classes, (n_items,), -1 where not labelled.
    design: one of `DESIGNS`; None: guessed. Data that contradict it are an error unless `insist`.
        Items labelled "elsewhere" are not part of the sample, also if they are among these.
    score: of every item, (n_items,), the higher the more likely the last class, or the reverse. Of
        two classes it takes the place of the verdicts.
    inclusion: the probability with which a labelled item was chosen, (n_items,), NaN elsewhere;
        strata: the stratum of every item, (n_items,). Either means that the plan is known.
    elsewhere: verdicts (as above) and labels of items that are not among these; scores instead of
        verdicts where scores take their place. Labels of these items, of which `design` then
        speaks, are used as well.
    sensitivity, specificity: P(verdict 1 | class 1) and P(verdict 0 | class 0), if known; two
        classes, no labels.
    verdict_names: of the first judge, for messages. ordered: classes are; for kappa.
    """
    data = JudgedItems.of(verdicts, labels, n_classes, score, elsewhere, verdict_classes)
    check_level(level)
    if sensitivity is not None or specificity is not None:
        return _with_given_rates(data, sensitivity, specificity, level=level, seed=seed)
    if data.n_labelled == 0:
        raise DataError(
            "no item is labelled: label some, or give the judge's sensitivity and specificity",
            arguments=["sensitivity", "specificity"],
        )
    if elsewhere is not None and data.known.any():
        by_items, by_elsewhere = (
            estimate(
                verdicts,
                labels if of_these else np.full(len(data.labels), -1),
                n_classes,
                design=design if of_these else None,
                score=score,
                level=level,
                inclusion=inclusion if of_these else None,
                strata=strata if of_these else None,
                elsewhere=None if of_these else elsewhere,
                verdict_classes=verdict_classes,
                verdict_names=verdict_names,
                ordered=ordered,
                insist=insist,
                seed=seed,
            )
            for of_these in (True, False)
        )
        return _combined(by_items, by_elsewhere, data)
    first = None if data.verdicts is None else data.verdicts[:, 0]
    about: tuple[str, ...] = ()
    planned = strata is not None or inclusion is not None
    if planned:
        design = "by-verdict"
        checked = Check(design, True, None, None, "How likely each item was chosen is known.")
    elif elsewhere is not None:
        if design not in (None, "elsewhere"):
            raise UserError(f"labels from elsewhere are not {design}: leave the design out")
        design, (labelled_v, labelled_y) = "elsewhere", data.labelled()
        checked = check(design, labelled_v, labelled_y, n_classes)
    else:
        if design is None:
            guess = guessed(first, data.labels, n_classes, score=score, verdict_names=verdict_names)
            design, about = guess.design, (f"Taken as {guess.design}: {guess.why}.",)
        checked = check(
            design, first, data.labels, n_classes, score=score, verdict_names=verdict_names
        )
        if not checked.ok and not insist:
            raise UserError(
                f"labels that are {design} are contradicted: {checked.sentence}; it looks like "
                f"{checked.looks_like}",
                arguments=["labels"],
            )
    answer = _answer(data, design, strata, inclusion, level=level, seed=seed)
    calibrated = calibrated_elsewhere(data, level) if design == "elsewhere" else None
    return Judged(
        prevalence=answer.prevalence,
        low=np.minimum(answer.low, answer.prevalence),
        high=np.maximum(answer.high, answer.prevalence),
        level=level,
        design=design,
        n_items=data.n_items(design),
        n_labelled=data.n_labelled,
        judges=_qualities(data, design, answer.prevalence, ordered, level, seed),
        check=checked,
        assumed=ASSUMED["planned" if planned else design],
        notes=about + answer.notes + data.notes(),
        range_low=None if calibrated is None else calibrated.low,
        range_high=None if calibrated is None else calibrated.high,
        labels_for_half_width=_labels_for_half_width(answer, data, design),
        influence=answer.influence,
        influence_elsewhere=answer.influence_elsewhere,
        why_not=answer.why_not,
    )


def _answer(
    data: JudgedItems,
    design: str,
    strata: ArrayLike | None,
    inclusion: ArrayLike | None,
    *,
    level: float,
    seed: int,
) -> Answer:
    """By the estimator of the design; of items unlike all labelled ones nothing is known."""
    sample = data.in_sample(design)
    unlike = data.unlike_labelled(design) & sample
    if _by_chance(data, unlike, design, strata, inclusion):
        unlike[:] = False
    if unlike.any() and design in TRANSFERRING and unlike[~data.known & sample].all():
        why_not = "none of them has a verdict or a score that a labelled item has"
        return nothing_known(int(sample.sum()), data.n_classes, why_not)
    part = data if not unlike.any() else data.take(~unlike)
    given, chances = (
        None if values is None else np.asarray(values)[~unlike] for values in (strata, inclusion)
    )
    if design == "random":
        answer = at_random(part, level)
    elif design == "by-verdict":
        answer = by_stratum(part, given, chances, level)
    else:
        answer = transferred(part, design, level=level, seed=seed)
    if not unlike.any():
        return answer
    scored = data.score is not None and design in TRANSFERRING
    return answer.with_items_unlike(unlike[sample], "scores" if scored else "verdicts")


def _by_chance(
    data: JudgedItems,
    unlike: NDArray[np.bool_],
    design: str,
    strata: ArrayLike | None,
    inclusion: ArrayLike | None,
) -> bool:
    """Whether labels of random items may well have missed the verdicts of the others.

    The estimate and its limits then hold as they are. Verdicts that are strata are left to
    `by_stratum`, which knows what to do without labels of one.
    """
    if design in TRANSFERRING:
        return False
    if design == "by-verdict":
        if strata is not None:
            return True
        if inclusion is None:
            return data.verdicts is not None and data.verdicts.shape[1] == 1
        drawn = np.asarray(inclusion, dtype=np.float64)[data.known]
        if drawn.max() > drawn.min():
            return False
    return bool((1 - unlike.mean()) ** data.n_labelled > RARELY)


def _combined(by_items: Judged, by_elsewhere: Judged, data: JudgedItems) -> Judged:
    """One estimate of two, if rates are the same; `by_items` uses labels of these items."""
    if by_items.design == "elsewhere":
        raise UserError(
            "some items of the sample and others are both labelled elsewhere: give them as one",
            arguments=["labelled"],
        )
    p_value = data.equal_rates()
    if p_value < EQUAL:
        different = "The judge treats items labelled elsewhere differently"
        return replace(
            by_items,
            notes=(*by_items.notes, f"{different} (p = {p_value:.2g}): their labels are not used."),
        )
    if by_items.why_not or by_elsewhere.why_not:
        not_used = (
            f"Labels from elsewhere are not used: {by_elsewhere.why_not or by_items.why_not}."
        )
        return replace(by_items, notes=(*by_items.notes, not_used))
    r = correlation(by_items, by_elsewhere, paired=True, shared=False)
    w = weight_of_first(by_items.high - by_items.low, by_elsewhere.high - by_elsewhere.low, r)
    p = w * by_items.prevalence + (1 - w) * by_elsewhere.prevalence
    (down, up), (elsewhere_down, elsewhere_up) = _beside(by_items), _beside(by_elsewhere)
    assert by_elsewhere.influence_elsewhere is not None
    return replace(
        by_items,
        prevalence=p,
        low=np.clip(p - averaged(down, elsewhere_down, r, w), 0, 1),
        high=np.clip(p + averaged(up, elsewhere_up, r, w), 0, 1),
        n_labelled=by_items.n_labelled + by_elsewhere.n_labelled,
        assumed=f"{by_items.assumed} {by_elsewhere.assumed}",
        notes=(
            *by_items.notes,
            f"Labels from elsewhere have a weight of {1 - w:.0%}; the judge treats both kinds of "
            f"items alike as far as can be seen (p = {p_value:.2g}).",
        ),
        labels_for_half_width=None,
        influence=w * by_items.influence + (1 - w) * by_elsewhere.influence,
        influence_elsewhere=(1 - w) * by_elsewhere.influence_elsewhere,
    )


ASSUMED = {
    "random": "The labelled items are a random draw of all items; nothing is assumed of the judge.",
    "by-verdict": "Among items of one verdict the labelled ones are a random draw; nothing else "
    "is assumed of the judge.",
    "planned": "The labelled items were drawn with the probabilities of the plan; nothing is "
    "assumed of the judge.",
    "by-label": "Items of one class are judged alike whether labelled or not.",
    "elsewhere": "Items of one class get each verdict as often here as among the labelled items.",
    "given": "The judge's sensitivity and specificity are here what they are said to be.",
}


def _qualities(
    data: JudgedItems,
    design: str,
    prevalence: Prevalences,
    ordered: bool,
    level: float,
    seed: int,
) -> tuple[Quality, ...]:
    """Of each judge by itself."""
    if data.verdicts is None:
        return ()
    sample, found = data.in_sample(design), []
    for j, classes in enumerate(data.classes):
        verdicts = data.verdicts[:, j]
        labelled_verdicts, y = verdicts[data.known], data.labels[data.known]
        if data.elsewhere is not None:
            if data.elsewhere[0].ndim == 1:
                return ()
            labelled_verdicts, y = data.elsewhere[0][:, j].astype(np.int64), data.elsewhere[1]
        V = len(classes)
        seen = np.isin(np.arange(V), labelled_verdicts)
        found.append(
            quality(
                table(labelled_verdicts, y, V, data.n_classes),
                np.bincount(verdicts[sample], minlength=V).astype(np.float64),
                prevalence,
                classes,
                design=design,
                ordered=ordered,
                level=level,
                seed=seed,
            ).unknown_unless(seen if design in TRANSFERRING else np.ones(V, dtype=bool))
        )
    return tuple(found)


def _with_given_rates(
    data: JudgedItems,
    sensitivity: GivenRate | None,
    specificity: GivenRate | None,
    *,
    level: float,
    seed: int,
) -> Judged:
    if sensitivity is None or specificity is None:
        raise UserError(
            "a judge's sensitivity is known but not its specificity, or the reverse: give both",
            arguments=["sensitivity", "specificity"],
        )
    if data.n_classes != 2 or data.verdicts is None or data.verdicts.shape[1] != 1:
        raise UserError("sensitivity and specificity are those of one judge between two classes")
    if data.n_labelled:
        raise UserError(
            "give either labels or a known sensitivity and specificity, not both",
            arguments=["sensitivity", "specificity"],
        )
    right, left = sensitivity.beta(), specificity.beta()
    alpha = np.array([left, right[::-1]])
    class_codes = data.classes[0][data.verdicts[:, 0]]
    if (class_codes < 0).any():
        raise DataError("with a known sensitivity every verdict is one of the two classes")
    N = np.bincount(class_codes, minlength=2).astype(np.float64)
    found = transfer.posterior(
        alpha, N[np.newaxis], None, level=level, seed=seed, power=transfer.LEAST_POWER
    )
    p = found.prevalence[0]
    judge = quality(
        np.zeros((2, 2)), N, p, np.arange(2), design="given", alpha=alpha, level=level, seed=seed
    )
    slope = max(sensitivity.estimate + specificity.estimate - 1, 1e-9)
    moved = (class_codes - class_codes.mean()) / slope
    why_not, low, high = "", found.low[0], found.high[0]
    if not found.fits[0]:
        is_coin = np.isclose(sensitivity.estimate + specificity.estimate, 1.0)
        why_not = (
            "with these rates either class gets each verdict equally often, so that verdicts say "
            "nothing about the shares"
            if is_coin
            else "the verdicts do not fit these rates, whatever the shares of the classes: there "
            "are fewer verdicts of a class than false ones alone would make"
        )
        low, high = np.zeros(2), np.ones(2)
    low, high = no_narrower_than_counted(p, low, high, len(class_codes), level)
    return Judged(
        p,
        low,
        high,
        level,
        "given",
        len(class_codes),
        0,
        (judge,),
        Check("given", bool(found.fits[0]), None, None, "There are no labels to check."),
        ASSUMED["given"],
        (),
        None,
        None,
        None,
        np.column_stack([-moved, moved]),
        None,
        why_not,
    )


def _labels_for_half_width(answer: Answer, data: JudgedItems, design: str) -> int | None:
    """Labels in all; without an error among the labels the width falls as their number rises."""
    if not answer.can_be_halved or answer.why_not:
        return None
    widest = int(np.argmax(answer.high - answer.low))
    by_labels, by_items = float(answer.by_labels[widest]), float(answer.by_items[widest])
    factor = 2.0
    if by_labels > 0:
        rest = (by_labels + by_items) / 4 - by_items
        if rest <= 0:
            return None
        factor = max(by_labels / rest, 2.0)
    needed = int(np.ceil(factor * data.n_labelled))
    return needed if design == "elsewhere" or needed <= len(data.labels) else None


@dataclass(frozen=True, eq=False)
class Difference:
    """The share of each class in a, minus that in b, (n_classes,)."""

    difference: Reals
    low: Reals
    high: Reals
    level: float
    paired: bool


def difference(a: Judged, b: Judged, *, paired: bool = False, shared: bool = False) -> Difference:
    """How two systems differ, by the squares of the distances to their limits (MOVER).

    paired: the items of a and b are the same, in the same order (answers to the same questions).
    shared: the labels from elsewhere are the same.
    """
    if len(a.prevalence) != len(b.prevalence):
        raise DataError("systems that are compared have the same classes")
    if a.level != b.level:
        raise UserError(f"the intervals are of levels {a.level} and {b.level}: use one")
    if paired and a.influence.shape != b.influence.shape:
        raise DataError(
            f"a paired comparison needs the same items, got {a.n_items} and {b.n_items}"
        )
    r = correlation(a, b, paired=paired, shared=shared)
    d = a.prevalence - b.prevalence
    down, up = mover(_beside(a), _beside(b), r)
    return Difference(d, np.maximum(d - down, -1), np.minimum(d + up, 1), a.level, paired)


def mover(a: tuple[Reals, Reals], b: tuple[Reals, Reals], r: Reals) -> tuple[Reals, Reals]:
    """Distances of a difference down and up to its limits, from those of a and b."""
    down = np.sqrt(np.maximum(a[0] ** 2 + b[1] ** 2 - 2 * r * a[0] * b[1], 0))
    up = np.sqrt(np.maximum(a[1] ** 2 + b[0] ** 2 - 2 * r * a[1] * b[0], 0))
    return down, up


def _beside(judged: Judged) -> tuple[Reals, Reals]:
    return judged.prevalence - judged.low, judged.high - judged.prevalence


def correlation(
    a: Judged, b: Judged, *, paired: bool, shared: bool, worth: Reals | None = None
) -> Reals:
    """Of the two estimates, class by class; of sums of classes times columns of `worth`, if given.

    worth: (n_classes, n_sums).
    """
    of = np.eye(len(a.prevalence)) if worth is None else worth

    def product(x: Judged, y: Judged, items: bool, elsewhere: bool) -> Reals:
        total = np.zeros(of.shape[1])
        if items:
            total = ((x.influence @ of) * (y.influence @ of)).sum(axis=0)
        if elsewhere and x.influence_elsewhere is not None and y.influence_elsewhere is not None:
            if x.influence_elsewhere.shape != y.influence_elsewhere.shape:
                raise DataError("labels from elsewhere that are shared are the same for both")
            both = (x.influence_elsewhere @ of) * (y.influence_elsewhere @ of)
            total = total + both.sum(axis=0)
        return np.asarray(total / len(x.influence) / len(y.influence))

    covariance = product(a, b, paired, shared)
    scale = np.sqrt(product(a, a, True, True) * product(b, b, True, True))
    return np.clip(np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0), -1, 1)
