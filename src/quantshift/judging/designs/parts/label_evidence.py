"""What the labels of some items show about how these were chosen.

Two things are looked at. Random items have the verdicts (chi-square) and the scores
(Kolmogorov-Smirnov) of all items. The verdicts are those of all judges together: items that were
labelled because two judges disagree have each judge's verdicts about as often as all items, and yet
none of the pairs on which the judges agree. If items are in groups, labelled ones are compared
within each group, because people often label a number of items of each. If items are in clusters,
the statistics are divided by the design effect (Rao and Scott), and few clusters have an F
distribution.

And people who choose items by verdict or by label choose as many of each, or round numbers of each:
even numbers of each verdict or of each label (fives: 25, not 27) are recognised, and tens that
differ. Even numbers also come about by chance, for random items at most once in eight times with 40
labels. So they contradict what was stated only together with other evidence: for random items,
verdicts that differ a little; for chosen ones, that the numbers they are said to be chosen by are
not round. Tens mean something only where the verdicts show that items are not random ones.
"""

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, kolmogorov

from quantshift.base.nouns import listed
from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Flags, Reals
from quantshift.judging.designs.parts.share_estimate import missed_by_chance
from quantshift.judging.items.clusters import LabelledClusters, cluster_sums
from quantshift.judging.items.judged_items import JudgedItems
from quantshift.statistics.contingency import ChiSquare, chi_square, fisher_p_value

SURELY = 0.005
"""Random items differ from the others with a smaller p-value once in two hundred times."""
PERHAPS = 0.005
"""The same for even numbers, times the root of the number of labels: one in about so many is even
by chance. With these two at most 1% of random labels are refused, also of 20 items and with
two judges."""
EVEN_FROM = 20
"""With fewer labels, even numbers mean nothing."""
FEWEST_EXPECTED = 1.0
"""Items of a verdict for which chi-square is a fair approximation."""
ROUND = 10
"""Somebody who chooses different numbers of each verdict chooses multiples of this."""


class Strength(IntEnum):
    """How much a clue says; the design with the strongest clue is guessed."""

    NOTHING_ELSE = 0
    """Nothing points to another design."""
    DIFFERENT_ITEMS = 1
    """Labelled items differ from the others."""
    ROUND_NUMBERS = 2
    """They do, and the numbers of each of something are round, as people choose them."""
    EVEN_NUMBERS = 3
    """There are as many of each of something, as people choose them."""
    SHOWN = 4
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

    verdict_counts: labelled items by verdict, for each judge and, with several, for all together.
    may_be_chosen: for each of these, whether items may have been chosen by it: among those of one
        verdict, the labelled ones then have the other judges' verdicts as often as all.
    p_value: of the test that labelled items have the verdicts (or scores) of all items.
    difference: in what they differ most, as a part of a sentence.
    lacks_cells: whether no item with some verdicts of all judges is labelled, which is hardly
        chance: nobody chooses a number of each verdict or of each class in this way.
    other_clues: for the check of a design, what points to others.
    """

    verdict_counts: tuple[NDArray[np.int64], ...]
    label_counts: NDArray[np.int64]
    p_value: float
    difference: str
    lacks_cells: bool = False
    may_be_chosen: tuple[bool, ...] = ()
    other_clues: tuple[Clue, ...] = ()

    @classmethod
    def of(cls, items: JudgedItems) -> "LabelEvidence":
        """The evidence of the labels of the items; if they have none, of those from elsewhere."""
        if items.external is not None and not items.is_labelled.any():
            verdicts_elsewhere, y = items.labelled()
            counts = () if verdicts_elsewhere is None else (np.bincount(verdicts_elsewhere),)
            labels = np.bincount(y, minlength=items.n_classes)
            return cls(counts, labels, 1.0, "", may_be_chosen=(True,) * len(counts))
        labelled, verdicts, score = items.is_labelled, items.verdicts, items.raw_score
        p_value, difference, lacks = 1.0, "", False
        by_judge: list[NDArray[np.int64]] = []
        chosen: list[bool] = []
        if verdicts is not None:
            patterns, codes = np.unique(verdicts, axis=0, return_inverse=True)
            codes = codes.ravel()
            p_value = _pattern_p_value(items, codes)
            difference = _difference(items, patterns, codes)
            columns = [verdicts[:, j] for j in range(verdicts.shape[1])]
            columns += [codes] if len(columns) > 1 else []
            by_judge = [_counted(column, labelled) for column in columns]
            chosen = [_may_be_chosen_by(column, items, codes) for column in columns]
            unlike = ~np.isin(codes, codes[labelled])
            lacks = verdicts.shape[1] > 1 and not missed_by_chance(items, unlike)
        if score is not None and labelled.any() and not labelled.all():
            by_score = _score_p_value(_within_groups(score, items.groups), labelled, items.clusters)
            if verdicts is None or by_score < p_value:
                difference = "the labelled items have other scores than the others"
            p_value = min(1.0, by_score if verdicts is None else 2 * min(by_score, p_value))
        labels = np.bincount(items.labels[labelled], minlength=items.n_classes)
        return cls(tuple(by_judge), labels, p_value, difference, lacks, tuple(chosen))

    @property
    def not_random(self) -> bool:
        """Whether the labelled items are surely not random ones."""
        return self.p_value < SURELY

    @property
    def perhaps_not_random(self) -> bool:
        """Whether that is likely, which even numbers of something confirm."""
        return self.p_value < PERHAPS * float(np.sqrt(self.label_counts.sum()))

    @property
    def chosen_verdicts(self) -> NDArray[np.int64] | None:
        """The first counts of verdicts that are even; None if there are none, or too few labels."""
        return next((c for c in self._possible_counts if _chosen_evenly(c)), None)

    @property
    def even_verdicts(self) -> bool:
        """Whether there are enough labels, and as many of each verdict."""
        return self.chosen_verdicts is not None

    @property
    def even_labels(self) -> bool:
        """Whether there are enough labels, and as many of each class."""
        return _chosen_evenly(self.label_counts)

    @property
    def tens_of_verdicts(self) -> NDArray[np.int64] | None:
        """The first counts of verdicts that are tens, of items that are surely not random ones."""
        return next((c for c in self._possible_counts if self.not_random and _tens(c)), None)

    @property
    def _possible_counts(self) -> list[NDArray[np.int64]]:
        """The counts of verdicts by which items may have been chosen."""
        pairs = zip(self.verdict_counts, self.may_be_chosen, strict=True)
        return [counts for counts, possible in pairs if possible]

    @property
    def tens_of_labels(self) -> bool:
        """Whether labels of items that are surely not random ones are tens of each class."""
        return self.not_random and _tens(self.label_counts)

    @property
    def of_each_verdict(self) -> str:
        """How many labelled items have each verdict: 25, or "25 or 26"."""
        counts = self.chosen_verdicts
        return "" if counts is None else _least_and_most(counts)

    @property
    def of_each_label(self) -> str:
        """How many labels there are of each class."""
        return _least_and_most(self.label_counts)


def even(counts: NDArray[np.int64]) -> bool:
    """Whether there are as many of each, as nearly as their number allows."""
    return len(counts) > 1 and int(counts.max() - counts.min()) <= 1


def _chosen_evenly(counts: NDArray[np.int64]) -> bool:
    """Whether there are enough, as many of each, and a number that people choose: 25, not 27."""
    most = int(counts.max(initial=0))
    return counts.sum() >= EVEN_FROM and even(counts) and (most % 5 == 0 or (most - 1) % 5 == 0)


def are_round(counts: NDArray[np.int64]) -> bool:
    """Whether these are numbers that somebody may have chosen."""
    return even(counts) or bool((counts % 5 == 0).all())


def numbers_in_words(counts: NDArray[np.int64]) -> str:
    """Numbers of each of something: "60 and 40"."""
    return listed([str(n) for n in counts])


def _tens(counts: NDArray[np.int64]) -> bool:
    seen = counts[counts > 0]
    return len(seen) > 1 and seen.sum() >= EVEN_FROM and bool((seen % ROUND == 0).all())


def _counted(codes: Codes, labelled: Flags) -> NDArray[np.int64]:
    """Labelled items of each code that occurs at all."""
    counts = np.bincount(codes[labelled], minlength=int(codes.max(initial=0)) + 1)
    return counts[np.bincount(codes, minlength=len(counts)) > 0]


def _difference(items: JudgedItems, patterns: NDArray[np.int64], codes: Codes) -> str:
    """The verdicts in which labelled items differ most from the others, as a part of a sentence.

    If items are in groups, those of the group in which they differ most.
    """
    if items.groups is not None:
        parts = [items.groups == group for group in np.unique(items.groups[items.is_labelled])]
        apart = [_apart(items.is_labelled[part], codes[part], len(patterns)) for part in parts]
        part = parts[int(np.argmax([np.abs(a).max() for a in apart]))]
        within = _difference(replace(items.take(part), groups=None), patterns, codes[part])
        return f"in one of the groups {within}"
    rows = (items.is_labelled, ~items.is_labelled)
    of_labelled, of_others = (np.bincount(codes[r], minlength=len(patterns)) for r in rows)
    most = int(np.argmax(np.abs(_apart(items.is_labelled, codes, len(patterns)))))
    names = [items.meaning.verdicts[j][code] for j, code in enumerate(patterns[most])]
    what = f"the verdict {names[0]}" if len(names) == 1 else f"the verdicts {listed(names)}"
    return (
        f"{_percent(of_labelled, most)} of the labelled items have {what} and "
        f"{_percent(of_others, most)} of the others"
    )


def _apart(labelled: Flags, codes: Codes, n: int) -> Reals:
    """The share of each code among labelled items minus that among the others."""
    shares = [
        np.bincount(codes[rows], minlength=n) / max(rows.sum(), 1) for rows in (labelled, ~labelled)
    ]
    return np.asarray(shares[0] - shares[1])


def _pattern_p_value(items: JudgedItems, codes: Codes) -> float:
    """The p-value of labelled and other items having the same verdicts, within each group."""
    labelled, n = items.is_labelled, int(codes.max(initial=0)) + 1
    if items.groups is None and items.clusters is None:
        table = _without_rare(
            np.stack([np.bincount(codes[r], minlength=n) for r in (labelled, ~labelled)])
        )
        if table.shape == (2, 2):
            return fisher_p_value(table)
    groups = np.zeros(len(items), dtype=np.int64) if items.groups is None else items.groups
    statistic, freedom = 0.0, 0
    for group in np.unique(groups[labelled]):
        rows = groups == group
        counts = [np.bincount(codes[rows & r], minlength=n) for r in (labelled, ~labelled)]
        table = _without_rare(np.stack(counts))
        if table.shape[1] > 1:
            test = chi_square(table)
            statistic, freedom = statistic + test.statistic, freedom + test.freedom
    if not freedom:
        return 1.0
    if items.clusters is None:
        return ChiSquare(statistic, freedom).p_value
    clusters = items.clusters[labelled]
    effect = _pattern_effect(np.eye(n)[codes[labelled]], np.bincount(codes, minlength=n), clusters)
    within = freedom * max(LabelledClusters.of(clusters).n - 1, 1)
    return float(fdtrc(freedom, within, statistic / effect / freedom))


def _may_be_chosen_by(verdicts: Codes, items: JudgedItems, codes: Codes) -> bool:
    """Whether labelled items of each verdict of a judge may be random ones of those that have it.

    codes: the verdicts of all judges together, as one.
    """
    groups = verdicts if items.groups is None else items.groups * (verdicts.max() + 1) + verdicts
    return _pattern_p_value(replace(items, groups=groups), codes) >= SURELY


def _without_rare(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Labelled and other items by verdict, the rare ones as one; one column if all are alike."""
    total = table.sum(axis=0)
    table, total = table[:, total > 0], total[total > 0]
    rows = table.sum(axis=1)
    if len(total) < 2 or not rows.all():
        return table[:, :1]
    rare = total * rows.min() / total.sum() < FEWEST_EXPECTED
    if rare.any():
        table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    return table


def _pattern_effect(indicators: Reals, sizes: NDArray[np.int64], clusters: Codes) -> float:
    """The design effect of the shares of patterns among labelled items.

    indicators: 0 and 1, which pattern each of them has, (n_labelled, n_patterns).
    """
    shares = sizes / sizes.sum()
    occurs = (shares > 0) & (shares < 1)
    apart = (indicators - shares)[:, occurs] / np.sqrt(shares[occurs])
    n = LabelledClusters.of(clusters).n
    by_clusters = float((cluster_sums(apart, clusters) ** 2).sum()) * n / max(n - 1, 1)
    return max(by_clusters / max(float((apart**2).sum()), 1e-12), 1.0)


def _within_groups(score: Reals, groups: Codes | None) -> Reals:
    """Scores as parts of the ranks of their group, so that groups may have unequal labels.

    Equal scores have ranks in random order: otherwise those of a group with few different scores
    would be unlike those of the others.
    """
    if groups is None:
        return score
    order = generator(0, purpose="judge", side="equal scores").permutation(len(score))
    ranked = order[np.lexsort((score[order], groups[order]))]
    sizes = np.bincount(groups)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    within = np.empty(len(score))
    within[ranked] = np.arange(len(score)) - first[groups[ranked]]
    return np.asarray((within + 0.5) / sizes[groups])


def _score_p_value(score: Reals, labelled: Flags, clusters: Codes | None) -> float:
    # Imported here because it takes a third of a second, and most tables have no scores.
    from scipy.stats import ks_2samp

    test = ks_2samp(score[labelled], score[~labelled], method="asymp")
    if clusters is None:
        return float(test.pvalue)
    above = (score > test.statistic_location).astype(np.float64)
    indicators, sizes = (
        np.column_stack([1 - above, above]),
        np.array([(above == 0).sum(), above.sum()]),
    )
    effect = _pattern_effect(indicators[labelled], sizes, clusters[labelled])
    n, m = labelled.sum() / effect, float((~labelled).sum())
    return float(kolmogorov(test.statistic * np.sqrt(n * m / (n + m))))


def _percent(counts: NDArray[np.int64], which: int) -> str:
    return f"{counts[which] / max(int(counts.sum()), 1):.0%}"


def _least_and_most(counts: NDArray[np.int64]) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} or {high}"
