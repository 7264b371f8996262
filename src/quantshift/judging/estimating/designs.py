"""How the labelled items were chosen: given by the user or guessed, and checked against the data.

What labels say about a judge depends on the design. Random items show the rate by themselves; items
chosen by their verdict show what share of each verdict is right; items chosen by their label, or
labelled elsewhere, show how often a class gets each verdict. Which it was is a fact about the past
that data can contradict but not prove.

Two things are looked at. Random items have the verdicts (chi-square) and the scores
(Kolmogorov-Smirnov) of all items. And people who choose items by verdict or by label choose as many
of each: even numbers of each verdict or of each label are recognised. They come about by chance
too, for random items at most once in eight times with 40 labels, hence they contradict what was
stated only together with other evidence: for random items verdicts that differ a little, for chosen
ones numbers of what they are stated to be chosen by that are not round.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from quantshift.errors import UserError, unknown_name

DESIGNS = ("random", "by-verdict", "by-label", "elsewhere")
"""How labelled items were chosen: at random; so many of each verdict; so many of each label; or
they are not among the items at all."""

SURELY = 0.01
"""Random items differ from the others with a smaller p-value once in a hundred times."""
PERHAPS = 0.15
"""The same for even numbers, which by themselves come about once in eight times at most."""
EVEN_FROM = 20
"""Labels from which on even numbers say something."""
FEWEST_EXPECTED = 1.0
"""Items of a verdict for which chi-square is a fair approximation."""


@dataclass(frozen=True)
class Check:
    """What the data say of a design.

    ok: False if they contradict it. p_value: of the test that labelled items have the verdicts (or
    scores) of all items; None if the design does not claim it.
    looks_like: the design that the numbers look like, also where they do not contradict `design`,
        or two ("by-verdict or by-label"); None if nothing speaks for another.
    sentence: one sentence for the user.
    """

    design: str
    ok: bool
    p_value: float | None
    looks_like: str | None
    sentence: str


@dataclass(frozen=True)
class Guess:
    """The design taken if none was given, and why, as a part of a sentence."""

    design: str
    why: str


def guessed(
    verdicts: ArrayLike | None,
    labels: ArrayLike,
    n_classes: int,
    *,
    score: ArrayLike | None = None,
    verdict_names: Sequence[str] | None = None,
) -> Guess:
    """The design that the labels of some items look like.

    verdicts: codes of all items, (n_items,); labels: codes, -1 where not labelled. Where two
    designs are possible, the one whose estimator is right under both is taken; where none is, as
    with even numbers of verdicts and of labels, it is an error.
    """
    seen = _Seen.of(verdicts, labels, n_classes, score, verdict_names)
    if seen.even_verdicts and seen.even_labels:
        raise UserError(
            f"the labelled items have {seen.verdict_counts} of each verdict and there are "
            f"{seen.label_counts} labels of each class: say whether they were chosen by-verdict, "
            "by-label or at random",
            arguments=["labels"],
        )
    if seen.even_verdicts:
        return Guess("by-verdict", f"the labelled items have {seen.verdict_counts} of each verdict")
    if seen.even_labels:
        return Guess("by-label", f"there are {seen.label_counts} labels of each class")
    if seen.p_value < SURELY:
        return Guess("elsewhere", f"{seen.difference}, and neither is even")
    return Guess("random", "the labelled items look like all items")


def check(
    design: str,
    verdicts: ArrayLike | None,
    labels: ArrayLike,
    n_classes: int,
    *,
    score: ArrayLike | None = None,
    verdict_names: Sequence[str] | None = None,
) -> Check:
    """Whether the data contradict the design that was stated. Arguments are those of `guessed`."""
    if design not in DESIGNS:
        raise unknown_name("design of the labels", design, DESIGNS)
    seen = _Seen.of(verdicts, labels, n_classes, score, verdict_names)
    if design == "random":
        return _check_random(seen)
    like: str | None = None
    ok, sentence = True, "Nothing in the data contradicts it."
    if design == "by-verdict" and seen.even_labels and not seen.even_verdicts:
        like, ok = "by-label", _round(seen.verdicts)
        sentence = (
            f"there are {seen.label_counts} labels of each class, as if chosen by their label"
        )
    elif design in ("by-label", "elsewhere") and seen.even_verdicts and not seen.even_labels:
        like, ok = "by-verdict", design == "elsewhere" or _round(seen.labels)
        sentence = (
            f"the labelled items have {seen.verdict_counts} of each verdict, as if chosen by it"
        )
    elif design == "by-verdict" and seen.even_verdicts:
        sentence = f"The labelled items have {seen.verdict_counts} of each verdict, as stated."
    elif design == "by-label" and seen.even_labels:
        sentence = f"There are {seen.label_counts} labels of each class, as stated."
    return Check(design, ok, None, like, sentence)


def _check_random(seen: "_Seen") -> Check:
    likes = [seen.even_verdicts and "by-verdict", seen.even_labels and "by-label"]
    like = " or ".join(name for name in likes if name) or None
    contradicted = seen.p_value < (SURELY if like is None else PERHAPS)
    if seen.even_verdicts:
        sentence = f"the labelled items have {seen.verdict_counts} of each verdict"
    elif seen.even_labels:
        sentence = f"there are {seen.label_counts} labels of each class"
    else:
        sentence = "Labelled items have the verdicts of all items, as random ones would."
    if contradicted:
        sentence = f"{seen.difference}, as random items would not" + (
            f"; {sentence}" if like else ""
        )
        like = like or "elsewhere"
    elif like is not None:
        sentence = f"{sentence[0].upper()}{sentence[1:]}, which may be chance: the verdicts are "
        sentence += "those of all."
    return Check("random", not contradicted, seen.p_value, like, sentence)


@dataclass(frozen=True, eq=False)
class _Seen:
    """Verdicts and labels of labelled items, as counts, and how likely they are for random ones."""

    verdicts: NDArray[np.int64]
    labels: NDArray[np.int64]
    p_value: float
    difference: str

    @classmethod
    def of(
        cls,
        verdicts: ArrayLike | None,
        labels: ArrayLike,
        n_classes: int,
        score: ArrayLike | None,
        names: Sequence[str] | None,
    ) -> "_Seen":
        y = np.asarray(labels, dtype=np.int64)
        known = y >= 0
        p_value, difference, counts = 1.0, "", np.zeros(0, dtype=np.int64)
        if verdicts is not None:
            v = np.asarray(verdicts, dtype=np.int64)
            of_labelled = np.bincount(v[known], minlength=int(v.max(initial=0)) + 1)
            of_others = np.bincount(v[~known], minlength=len(of_labelled))
            given = of_labelled + of_others > 0
            counts = of_labelled[given]
            p_value = _chi_square(counts, of_others[given])
            most = int(
                np.argmax(
                    np.abs(
                        of_labelled / max(of_labelled.sum(), 1)
                        - of_others / max(of_others.sum(), 1)
                    )
                )
            )
            name = most if names is None else names[most]
            difference = (
                f"{_percent(of_labelled, most)} of the labelled items have the verdict {name} "
                f"and {_percent(of_others, most)} of the others"
            )
        if score is not None and known.any() and not known.all():
            s = np.asarray(score, dtype=np.float64)
            by_score = float(stats.ks_2samp(s[known], s[~known], method="asymp").pvalue)
            if verdicts is None or by_score < p_value:
                difference = "the labelled items have other scores than the others"
            p_value = min(1.0, by_score if verdicts is None else 2 * min(by_score, p_value))
        return cls(counts, np.bincount(y[known], minlength=n_classes), p_value, difference)

    @property
    def even_verdicts(self) -> bool:
        return self.verdicts.sum() >= EVEN_FROM and even(self.verdicts)

    @property
    def even_labels(self) -> bool:
        return self.labels.sum() >= EVEN_FROM and even(self.labels)

    @property
    def verdict_counts(self) -> str:
        return _between(self.verdicts)

    @property
    def label_counts(self) -> str:
        return _between(self.labels)


def even(counts: NDArray[np.int64]) -> bool:
    """Whether there are as many of each, as nearly as their number allows."""
    return len(counts) > 1 and int(counts.max() - counts.min()) <= 1


def _round(counts: NDArray[np.int64]) -> bool:
    """Numbers that somebody may have chosen."""
    return even(counts) or bool((counts % 5 == 0).all())


def _chi_square(of_labelled: NDArray[np.int64], of_others: NDArray[np.int64]) -> float:
    """Of labelled and other items having the same verdicts; rare verdicts are taken together."""
    total = of_labelled + of_others
    if len(total) < 2 or of_labelled.sum() == 0 or of_others.sum() == 0:
        return 1.0
    expected = total * min(of_labelled.sum(), of_others.sum()) / total.sum()
    rare = expected < FEWEST_EXPECTED
    table = np.stack([of_labelled, of_others])
    if rare.any():
        table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    if table.shape[1] < 2:
        return 1.0
    if table.shape == (2, 2):
        return float(stats.fisher_exact(table).pvalue)
    return float(stats.chi2_contingency(table, correction=False).pvalue)


def _percent(counts: NDArray[np.int64], which: int) -> str:
    return f"{counts[which] / max(int(counts.sum()), 1):.0%}"


def _between(counts: NDArray[np.int64]) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} or {high}"
