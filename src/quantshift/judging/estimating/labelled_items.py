"""The labelled items alone, each with the weight by which it stands for the items in question.

Labels of random items count alike. A label chosen by verdict stands for its part of the items with
that verdict, one chosen by class for its part of the class, and one drawn by a plan counts by the
inverse of its probability. With these weights, labelled items show how often a judge agrees with
people among all items.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Codes, Flags, Prevalences, Reals
from quantshift.judging.designs.design import Design, LabelsStandFor
from quantshift.judging.designs.parts.group_quotas import weights_of_groups
from quantshift.judging.items.clusters import cluster_sums
from quantshift.judging.items.judged_items import JudgedItems
from quantshift.judging.items.meaning import Meaning


@dataclass(frozen=True, eq=False)
class LabelledItems:
    """The labelled items.

    positions: theirs among the items; None if they are other items. verdicts: codes,
    (n, n_judges). labels: codes of classes, (n,). weights: of mean 1. standing_for: what they are a
    random sample of.
    """

    positions: NDArray[np.int64] | None
    verdicts: NDArray[np.int64] | None
    labels: Codes
    weights: Reals
    clusters: Codes | None
    meaning: Meaning
    standing_for: LabelsStandFor

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def count_alike(self) -> bool:
        """Whether each is independent of the others and counts as much."""
        return self.clusters is None and bool(np.allclose(self.weights, 1.0))

    @property
    def given_verdicts(self) -> NDArray[np.int64]:
        """The verdicts, for what is asked only of items that have some."""
        assert self.verdicts is not None
        return self.verdicts

    def says(self, judge: int) -> Codes:
        """The class that the verdict of a judge says, -1 for none."""
        return np.array(self.meaning.says[judge], dtype=np.int64)[self.given_verdicts[:, judge]]

    def sums(self, added: Reals) -> Reals:
        """What items add to a sum, (n, n_columns), by cluster if there are any."""
        return added if self.clusters is None else cluster_sums(added, self.clusters)


def labelled_items(
    items: JudgedItems, design: Design, prevalence: Prevalences
) -> LabelledItems | None:
    """The labelled items, or those labelled elsewhere; None if there are none.

    prevalence: shares of the classes among the items in question, as estimated.
    """
    standing_for = design.labels_stand_for
    if design.labelled_are_items and items.is_labelled.any():
        items = items.without_external()
    labels = items.labelled()[1]
    if not len(labels) or not design.uses_labels:
        return None
    external, labelled = items.external, items.is_labelled
    here = external is None
    weights = _weights(items, standing_for, prevalence)
    verdicts = items.verdicts if external is None else external.verdicts
    return LabelledItems(
        positions=np.flatnonzero(labelled) if here else None,
        verdicts=verdicts[labelled] if here and verdicts is not None else verdicts,
        labels=labels,
        weights=weights / weights.mean(),
        clusters=items.label_clusters,
        meaning=items.meaning,
        standing_for=standing_for,
    )


def _weights(items: JudgedItems, standing_for: LabelsStandFor, prevalence: Prevalences) -> Reals:
    labelled, weights = items.is_labelled, items.label_weights
    if standing_for is LabelsStandFor.ALL_ITEMS:
        of_groups = weights_of_groups(items)
        return weights if of_groups is None else weights * of_groups
    if standing_for is LabelsStandFor.THEIR_VERDICT:
        cells = items.cells() if items.verdicts is None else items.cells_of_verdicts()
        return weights * _per_label(cells.codes, labelled)
    if standing_for is LabelsStandFor.THEIR_CLASS:
        labels = items.labelled()[1]
        counts = np.bincount(labels, minlength=len(prevalence))
        return np.asarray(weights * (prevalence / np.maximum(counts, 1))[labels])
    if standing_for is LabelsStandFor.THEIR_STRATUM and items.drawn is not None:
        if items.drawn.inclusion is not None:
            return np.asarray(weights / items.drawn.inclusion[labelled])
        assert items.drawn.strata is not None
        return weights * _per_label(items.drawn.strata, labelled)
    return weights


def _per_label(codes: Codes, labelled: Flags) -> Reals:
    """For every labelled item, how many items of its code there are for each labelled one."""
    n_labelled = np.bincount(codes[labelled], minlength=int(codes.max()) + 1)
    return np.asarray((np.bincount(codes) / np.maximum(n_labelled, 1))[codes[labelled]])
