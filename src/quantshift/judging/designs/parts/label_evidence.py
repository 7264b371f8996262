"""What the labels of some items show about how these were chosen.

Two things are looked at. Random items have the verdicts (chi-square) and the scores
(Kolmogorov-Smirnov) of all items. And people who choose items by verdict or by label choose as many
of each: even numbers of each verdict or of each label are recognised. They come about by chance
too, for random items at most once in eight times with 40 labels, hence they contradict what was
stated only together with other evidence: for random items verdicts that differ a little, for chosen
ones numbers of what they are stated to be chosen by that are not round.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from quantshift.base.types import Codes, Flags, Reals
from quantshift.judging.judged_items import JudgedItems

SURELY = 0.01
"""Random items differ from the others with a smaller p-value once in a hundred times."""
PERHAPS = 0.15
"""The same for even numbers, which by themselves come about once in eight times at most."""
EVEN_FROM = 20
"""Labels from which on even numbers mean something."""
FEWEST_EXPECTED = 1.0
"""Items of a verdict for which chi-square is a fair approximation."""


class Strength(IntEnum):
    """How much a clue says; of the designs with a clue the strongest is guessed."""

    NOTHING_ELSE = 0
    """Nothing points to another design."""
    DIFFERENT_ITEMS = 1
    """Labelled items differ from the others."""
    EVEN_NUMBERS = 2
    """There are as many of each of something, as people choose them."""
    SHOWN = 3
    """The table itself shows it."""


@dataclass(frozen=True)
class Clue:
    """What in the data points to a design.

    why: as a part of a sentence, and as_if: what it looks like, which may follow it.
    """

    design: str
    strength: Strength
    why: str
    as_if: str = ""


@dataclass(frozen=True, eq=False)
class LabelEvidence:
    """Verdicts and labels of labelled items, as counts, and how likely they are for random ones.

    p_value: of the test that labelled items have the verdicts (or scores) of all items.
    difference: in what they differ most, as a part of a sentence.
    other_clues: for the check of a design, what points to others.
    """

    verdict_counts: NDArray[np.int64]
    label_counts: NDArray[np.int64]
    p_value: float
    difference: str
    other_clues: tuple[Clue, ...] = ()

    @classmethod
    def of(cls, items: JudgedItems) -> "LabelEvidence":
        """That of the labels of the items; if they have none, of labels from elsewhere."""
        y, score = items.labels, items.raw_score
        verdicts = None if items.verdicts is None else items.verdicts[:, 0]
        if items.external is not None and not items.known.any():
            (verdicts, y), score = items.labelled(), None
        known = y >= 0
        p_value, difference, counts = 1.0, "", np.zeros(0, dtype=np.int64)
        if verdicts is not None:
            counts, p_value, difference = _by_verdicts(verdicts, known, items.meaning.verdicts[0])
        if score is not None and known.any() and not known.all():
            by_score = _by_scores(score, known)
            if verdicts is None or by_score < p_value:
                difference = "the labelled items have other scores than the others"
            p_value = min(1.0, by_score if verdicts is None else 2 * min(by_score, p_value))
        return cls(counts, np.bincount(y[known], minlength=items.n_classes), p_value, difference)

    @property
    def even_verdicts(self) -> bool:
        """Whether there are enough labels, and as many of each verdict."""
        return self.verdict_counts.sum() >= EVEN_FROM and even(self.verdict_counts)

    @property
    def even_labels(self) -> bool:
        """Whether there are enough labels, and as many of each class."""
        return self.label_counts.sum() >= EVEN_FROM and even(self.label_counts)

    @property
    def of_each_verdict(self) -> str:
        """How many labelled items have each verdict: 25, or "25 or 26"."""
        return _least_and_most(self.verdict_counts)

    @property
    def of_each_label(self) -> str:
        """How many labels there are of each class."""
        return _least_and_most(self.label_counts)


def even(counts: NDArray[np.int64]) -> bool:
    """Whether there are as many of each, as nearly as their number allows."""
    return len(counts) > 1 and int(counts.max() - counts.min()) <= 1


def are_round(counts: NDArray[np.int64]) -> bool:
    """Whether these are numbers that somebody may have chosen."""
    return even(counts) or bool((counts % 5 == 0).all())


def _by_verdicts(
    verdicts: Codes, known: Flags, names: Sequence[str]
) -> tuple[NDArray[np.int64], float, str]:
    """Counts of the labelled items, the p-value, and the verdict that differs most in words."""
    of_labelled = np.bincount(verdicts[known], minlength=int(verdicts.max(initial=0)) + 1)
    of_others = np.bincount(verdicts[~known], minlength=len(of_labelled))
    occurs = of_labelled + of_others > 0
    apart = of_labelled / max(of_labelled.sum(), 1) - of_others / max(of_others.sum(), 1)
    most = int(np.argmax(np.abs(apart)))
    difference = (
        f"{_percent(of_labelled, most)} of the labelled items have the verdict {names[most]} "
        f"and {_percent(of_others, most)} of the others"
    )
    return of_labelled[occurs], _chi_square(of_labelled[occurs], of_others[occurs]), difference


def _by_scores(score: Reals, known: Flags) -> float:
    return float(stats.ks_2samp(score[known], score[~known], method="asymp").pvalue)


def _chi_square(of_labelled: NDArray[np.int64], of_others: NDArray[np.int64]) -> float:
    """p-value of labelled and other items having the same verdicts; rare ones are one verdict."""
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


def _least_and_most(counts: NDArray[np.int64]) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} or {high}"
