"""Judged items: verdicts or scores of all, labels of some, checked and brought into one shape."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Codes, Flags, Reals
from quantshift.claims import Assumption
from quantshift.claims.findings import Finding
from quantshift.errors import DataError, UserError
from quantshift.intervals.targets import ITEMS
from quantshift.judging.findings import JudgeFindings
from quantshift.judging.items import verdict_cells
from quantshift.judging.items.meaning import Meaning
from quantshift.judging.items.verdict_cells import VerdictCells
from quantshift.judging.sensitivity import GivenRates
from quantshift.prevalence.weights import checked_weights

AUTO = "auto"
FEWEST_TO_AGREE = 10
"""With so many labels it is strange that all of them agree with the verdicts."""
ASSUMPTIONS = (AUTO, Assumption.RATES, Assumption.VERDICTS)
"""What carries over from labels elsewhere."""


@dataclass(frozen=True)
class Settings:
    """How to estimate.

    level: that of the intervals. seed: that of what is drawn at random. insist: whether to use a
    design that the data contradict, which is an error otherwise. of: whose share the interval is
    for, that of these items or of the population they were drawn from. assume: what carries over
    from labels elsewhere, the rates of the judge or what its verdicts mean; AUTO: nothing is
    declared.
    """

    level: float = 0.95
    seed: int = 0
    insist: bool = False
    of: str = ITEMS
    assume: str = AUTO

    @property
    def of_items(self) -> bool:
        """Whether the shares are those of these items."""
        return self.of == ITEMS


DEFAULTS = Settings()


@dataclass(frozen=True, eq=False)
class ExternalLabels:
    """Items that are not among those in question, with their labels.

    labels: codes of classes, (n,), -1 where not labelled. verdicts: codes, (n,) or (n, n_judges);
    score: (n,), needed where the score of the items takes the place of their verdicts.
    clusters, weights: see `JudgedItems`; a cluster of the items has the same code here. sources:
    codes of where each item comes from; None if all are of one source.
    """

    labels: ArrayLike
    verdicts: ArrayLike | None = None
    score: ArrayLike | None = None
    clusters: ArrayLike | None = None
    weights: ArrayLike | None = None
    sources: ArrayLike | None = None


@dataclass(frozen=True, eq=False)
class KnownDraw:
    """How the labelled items were drawn, where that is known: by one of the two.

    inclusion: the probability with which each item was chosen, (n_items,), NaN where not labelled;
    strata: the stratum of every item, (n_items,), within which labelled items are random ones.
    """

    inclusion: Reals | None = None
    strata: Codes | None = None

    def take(self, chosen: Flags) -> "KnownDraw":
        """The same for some of the items."""
        return KnownDraw(
            None if self.inclusion is None else np.asarray(self.inclusion)[chosen],
            None if self.strata is None else np.asarray(self.strata)[chosen],
        )


@dataclass(frozen=True, eq=False)
class _Labelled:
    """Items labelled elsewhere, checked: all of them have labels.

    verdicts: (n, n_judges); None where scores take their place.
    """

    verdicts: NDArray[np.int64] | None
    score: Reals | None
    labels: Codes
    clusters: Codes | None = None
    weights: Reals | None = None
    sources: Codes | None = None


@dataclass(frozen=True, eq=False)
class JudgedItems:
    """What a rate is estimated from; made by `of`, which checks it.

    verdicts: codes, (n_items, n_judges), or None with scores alone.
    labels: codes of classes, (n_items,), -1 where not labelled.
    meaning: that of the codes.
    raw_score: that of every item, as it was given. score: the same between 0 and 1, where it
        replaces the verdicts: with two classes, or without verdicts.
    external: items labelled elsewhere. drawn: how labelled items were drawn, if that is known.
    rates: sensitivity and specificity, if they are known.
    clusters: the conversation, question or user that each item belongs to, as codes, (n_items,);
        items of one cluster may be alike. weights: how much each item counts, of mean 1.
    groups: those of the items, as codes, (n_items,); labelled items may have been chosen by group.
    """

    verdicts: NDArray[np.int64] | None
    labels: Codes
    meaning: Meaning
    raw_score: Reals | None
    score: Reals | None
    external: _Labelled | None
    drawn: KnownDraw | None
    rates: GivenRates | None
    clusters: Codes | None = None
    weights: Reals | None = None
    groups: Codes | None = None

    @classmethod
    def of(
        cls,
        verdicts: ArrayLike | None,
        labels: ArrayLike,
        meaning: Meaning,
        *,
        score: ArrayLike | None = None,
        external: ExternalLabels | None = None,
        drawn: KnownDraw | None = None,
        rates: GivenRates | None = None,
        clusters: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> "JudgedItems":
        """The arguments, checked.

        verdicts: codes, (n_items,) or (n_items, n_judges); score: (n_items,), the higher the more
        likely the last class, or the reverse.
        """
        y = np.asarray(labels, dtype=np.int64)
        n_classes = len(meaning.classes)
        if n_classes < 2:
            raise DataError("a rate needs at least two classes")
        if verdicts is None and score is None:
            raise UserError(
                "give the verdicts of a judge or a score", arguments=["verdict", "score"]
            )
        v = None if verdicts is None else _columns(verdicts)
        # The score takes the place of verdicts where one number can: with two classes.
        scored = score is not None and (v is None or n_classes == 2)
        scaled: Reals | None = None
        others: _Labelled | None = None
        if scored and score is not None:
            scaled, scaled_elsewhere = verdict_cells.scaled_scores(score, _scores_of(external))
        for values in (v, scaled):
            if values is not None and len(values) != len(y):
                raise DataError(f"there are {len(values)} verdicts or scores and {len(y)} labels")
        if len(y) == 0:
            raise DataError("there are no items")
        if external is not None:
            others = _labelled(external, v, scaled_elsewhere if scored else None)
        _check_codes([y, *([] if others is None else [others.labels])], n_classes)
        if v is not None:
            _check_meaning(v, None if others is None else others.verdicts, meaning)
        if drawn is not None and drawn.inclusion is not None:
            _check_inclusion(drawn.inclusion, y)
        raw = None if score is None else np.asarray(score, dtype=np.float64)
        return cls(
            verdicts=v,
            labels=y,
            meaning=meaning,
            raw_score=raw,
            score=scaled,
            external=others,
            drawn=drawn,
            rates=rates,
            clusters=_cluster_codes(clusters, len(y)),
            groups=_cluster_codes(groups, len(y)),
            weights=_checked_weights(weights, len(y)),
        )

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def n_classes(self) -> int:
        """How many classes the labels have."""
        return len(self.meaning.classes)

    @property
    def is_labelled(self) -> Flags:
        """Which items are labelled."""
        return np.asarray(self.labels >= 0)

    @property
    def n_labelled(self) -> int:
        """Labels, here or elsewhere."""
        return int(self.is_labelled.sum()) if self.external is None else len(self.external.labels)

    @property
    def item_weights(self) -> Reals:
        """How much each item counts, of mean 1."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def n_effective(self) -> float:
        """How many items of equal weight these items count for (Kish)."""
        w = self.item_weights
        return float(w.sum() ** 2 / (w**2).sum())

    @property
    def label_weights(self) -> Reals:
        """How much each labelled item counts."""
        if self.external is None:
            return self.item_weights[self.is_labelled]
        weights = self.external.weights
        return np.ones(len(self.external.labels)) if weights is None else weights

    @property
    def label_clusters(self) -> Codes | None:
        """The cluster of each labelled item, if these are known."""
        if self.external is not None:
            return self.external.clusters
        return None if self.clusters is None else self.clusters[self.is_labelled]

    def class_of_verdicts(self, judge: int) -> Codes:
        """The class that each verdict of a judge says, -1 for none."""
        return np.array(self.meaning.says[judge], dtype=np.int64)

    def labelled(self, judge: int = 0) -> tuple[Codes | None, Codes]:
        """A judge's verdicts and the labels of the labelled items."""
        if self.external is not None:
            verdicts = self.external.verdicts
            return None if verdicts is None else verdicts[:, judge], self.external.labels
        verdicts = self.verdicts
        return None if verdicts is None else verdicts[self.is_labelled, judge], self.labels[
            self.is_labelled
        ]

    @property
    def given_verdicts(self) -> NDArray[np.int64]:
        """The verdicts, for what is asked only of items that have some."""
        assert self.verdicts is not None
        return self.verdicts

    def verdicts_together(self) -> Codes:
        """The verdicts of all judges about each item as one code, (n_items,)."""
        return np.unique(self.given_verdicts, axis=0, return_inverse=True)[1].ravel()

    @property
    def inclusion_of_labels(self) -> Reals | None:
        """With what probability each labelled item was chosen, if that is known."""
        if self.drawn is None or self.drawn.inclusion is None:
            return None
        return np.asarray(self.drawn.inclusion, dtype=np.float64)[self.is_labelled]

    def cells(self) -> VerdictCells:
        """What the judges say about each item, as one verdict."""
        others = self.external
        y = self.labels[self.is_labelled] if others is None else others.labels
        if self.score is not None:
            elsewhere = None if others is None else others.score
            return verdict_cells.of_score(self.score, elsewhere, y, self.n_classes)
        return self.cells_of_verdicts()

    def cells_of_verdicts(self) -> VerdictCells:
        """The same by the verdicts alone, whether or not there is a score."""
        verdicts = self.given_verdicts
        return verdict_cells.of_judges(
            verdicts,
            None if self.external is None else self.external.verdicts,
            [self.class_of_verdicts(j) for j in range(verdicts.shape[1])],
            self.n_classes,
        )

    def labelled_cells(self, item_cells: VerdictCells) -> tuple[Codes, Codes]:
        """Cells and labels of the labelled items. item_cells: what `cells` gives."""
        if self.external is None or item_cells.external is None:
            return item_cells.codes[self.is_labelled], self.labels[self.is_labelled]
        return item_cells.external, self.external.labels

    def take(self, chosen: Flags) -> "JudgedItems":
        """Some of the items, with all that are labelled elsewhere."""
        return replace(
            self,
            verdicts=None if self.verdicts is None else self.verdicts[chosen],
            labels=self.labels[chosen],
            raw_score=None if self.raw_score is None else self.raw_score[chosen],
            score=None if self.score is None else self.score[chosen],
            drawn=None if self.drawn is None else self.drawn.take(chosen),
            clusters=None if self.clusters is None else self.clusters[chosen],
            groups=None if self.groups is None else self.groups[chosen],
            weights=None if self.weights is None else _mean_one(self.weights[chosen]),
        )

    def without_external(self) -> "JudgedItems":
        """The same with the labels of these items alone."""
        return replace(self, external=None)

    def without_labels(self) -> "JudgedItems":
        """The same with the labels from elsewhere alone."""
        return replace(self, labels=np.full(len(self), -1), drawn=None)

    def verdicts_without_labels(self) -> Flags:
        """Which items have a verdict of some judge that no labelled item has."""
        unlike = np.zeros(len(self), dtype=bool)
        if self.verdicts is None:
            return unlike
        for j in range(self.verdicts.shape[1]):
            labelled_verdicts, _ = self.labelled(j)
            if labelled_verdicts is not None:
                unlike |= ~np.isin(self.verdicts[:, j], labelled_verdicts)
        return unlike

    def scores_without_labels(self) -> Flags:
        """Which items have a score in a bin without labels."""
        item_cells = self.cells()
        labelled = item_cells.external
        if labelled is None:
            labelled = item_cells.codes[self.is_labelled]
        return ~np.isin(item_cells.codes, labelled)

    def findings(self) -> tuple[Finding, ...]:
        """What is strange about verdicts and labels."""
        verdicts, y = self.labelled()
        found = []
        if len(np.unique(y)) == 1:
            found.append(JudgeFindings.ONE_CLASS_LABELLED.found())
        if self.verdicts is not None and self.verdicts.shape[1] == 1:
            if len(np.unique(self.verdicts)) == 1:
                found.append(JudgeFindings.ONE_VERDICT.found())
            elif (
                verdicts is not None
                and len(y) >= FEWEST_TO_AGREE
                and np.array_equal(self.class_of_verdicts(0)[verdicts], y)
            ):
                found.append(JudgeFindings.PERFECT_AGREEMENT.found())
        return tuple(found)


def _columns(verdicts: ArrayLike) -> NDArray[np.int64]:
    v = np.asarray(verdicts)
    if v.ndim == 1:
        v = v[:, np.newaxis]
    if v.ndim != 2 or (v.size and (not np.issubdtype(v.dtype, np.integer) or v.min() < 0)):
        raise DataError("verdicts are codes, 0 or more, of every item")
    return v.astype(np.int64)


def _scores_of(external: ExternalLabels | None) -> ArrayLike | None:
    if external is None:
        return None
    if external.score is None:
        raise DataError("items labelled elsewhere need a score, as the others have one")
    return external.score


def _labelled(
    external: ExternalLabels, v: NDArray[np.int64] | None, scaled: Reals | None
) -> _Labelled:
    """The items that have labels; v: verdicts of the others, scaled: scores instead of verdicts."""
    y = np.asarray(external.labels, dtype=np.int64)
    labelled = y >= 0
    weights = external.weights
    label_clusters, sources = (
        None if codes is None else codes[labelled]
        for codes in (_cluster_codes(c, len(y)) for c in (external.clusters, external.sources))
    )
    label_weights = _checked_weights(
        None if weights is None else np.asarray(weights)[labelled], int(labelled.sum())
    )
    if scaled is not None:
        if len(scaled) != len(y):
            raise DataError("items labelled elsewhere need a score each")
        return _Labelled(
            None, scaled[labelled], y[labelled], label_clusters, label_weights, sources
        )
    verdicts = None if external.verdicts is None else _columns(external.verdicts)
    if (
        verdicts is None
        or len(verdicts) != len(y)
        or (v is not None and verdicts.shape[1] != v.shape[1])
    ):
        raise DataError("items labelled elsewhere need verdicts of the same judges each")
    return _Labelled(verdicts[labelled], None, y[labelled], label_clusters, label_weights, sources)


def _cluster_codes(clusters: ArrayLike | None, n_items: int) -> Codes | None:
    if clusters is None:
        return None
    codes = np.asarray(clusters)
    if codes.shape != (n_items,) or not np.issubdtype(codes.dtype, np.integer):
        raise DataError(f"clusters and groups are codes, one for each of the {n_items} items")
    return codes.astype(np.int64)


def _checked_weights(weights: ArrayLike | None, n_items: int) -> Reals | None:
    checked = checked_weights(weights, n_items)
    return None if checked is None else _mean_one(checked)


def _mean_one(weights: Reals) -> Reals:
    mean = weights.mean() if weights.any() else 1.0
    return np.asarray(weights / mean)


def _check_codes(labels: Sequence[Codes], n_classes: int) -> None:
    for codes in labels:
        if len(codes) and (codes.min() < -1 or codes.max() >= n_classes):
            raise DataError(f"codes of labels must be from 0 to {n_classes - 1}, or -1 for none")


def _check_meaning(
    verdicts: NDArray[np.int64], elsewhere: NDArray[np.int64] | None, meaning: Meaning
) -> None:
    """Refuse verdicts if nothing says which class, or none, each of them stands for."""
    n_judges, n_classes = verdicts.shape[1], len(meaning.classes)
    if len(meaning.says) != n_judges:
        raise DataError(
            f"there are verdicts of {n_judges} judges, and meanings of those of {len(meaning.says)}"
        )
    for j, says in enumerate(meaning.says):
        most = int(verdicts[:, j].max())
        if elsewhere is not None:
            most = max(most, int(elsewhere[:, j].max(initial=0)))
        if most >= len(says) or max(says, default=-1) >= n_classes:
            raise DataError(
                f"verdicts have codes up to {most} where {n_classes} classes are known: say what "
                "class each verdict stands for",
                arguments=["map"],
            )


def _check_inclusion(inclusion: Reals, labels: Codes) -> None:
    pi = np.asarray(inclusion, dtype=np.float64)
    labelled = labels >= 0
    if pi.shape != labels.shape or not ((pi[labelled] > 0) & (pi[labelled] <= 1)).all():
        raise DataError(
            "every labelled item needs the probability, above 0, with which it was drawn"
        )
