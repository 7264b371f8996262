"""A goodness-of-fit test of label shift: whether the features refute SubclassSLD's model.

`shift_test` asks which of the shifts of the family (prior, mixed, local) occurred; this test asks
whether any of them did. The training items, weighted as estimated by SubclassSLD (the share of the
item's class and cluster in the sample, divided by its share in training), should look like the
sample. A linear discriminant tries to distinguish the two, trained on one half of each and tested
on the other. The model is refuted if it succeeds: z > 3, and an area under the ROC curve above
0.52, below which a difference hardly affects an estimate. The share of the difference between
sample and training items that the model explains is one minus the ratio of the two areas' excess
over 0.5, with and without its weights. A model of prior shift that explains at least half, and is
refuted with z <= 5, is in doubt: no other assumption need be better.

Between regions, years or hospitals the model is nearly always refuted, because everything changes a
little. The estimate then depends on an assumption that the data contradicts.

The test cannot see a change of P(Y|X) that leaves P(X) unchanged, nor a change of P(X) that the
shares of clusters can imitate. A model that is not refuted is not proven. With fewer than about 100
items the test has no power.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from quantshift.base.types import Indices
from quantshift.classify.clusters.clusters import Clusters
from quantshift.classify.separation import Reference
from quantshift.errors import DataError
from quantshift.items.items import Items
from quantshift.quantifiers.likelihood.goodness_of_fit import ModelledTraining, modelled_shares
from quantshift.quantifiers.likelihood.shift_models import OffersSubclasses


@dataclass(frozen=True)
class Refutation:
    """The outcome of `refutation_test`.

    refuted: whether the sample refutes the model.
    auc: how well it is distinguished from the training items with the model's weights: from 0.5
        (not at all) to 1.
    z: the same in standard errors above 0.5.
    explained: the share of the difference between the sample and the training items that the model
        explains, from 0 to 1; mostly noise if they hardly differ.
    in_doubt: whether the model, though refuted, explains so much that no other may be better.
    """

    refuted: bool
    auc: float
    z: float
    explained: float
    in_doubt: bool

    def __str__(self) -> str:
        figures = (
            f"(AUC {self.auc:.2f}, {self.z:.1f} standard errors above 0.5; {self.explained:.0%} of "
            "the difference explained)"
        )
        if self.in_doubt:
            return (
                "in doubt: a change in prevalence explains most of the difference, not all "
                f"{figures}"
            )
        if self.refuted:
            return (
                "refuted: neither a change in prevalence nor in subgroups explains the sample "
                f"{figures}"
            )
        return (
            f"not refuted: a change in the shares of classes and subgroups may explain it {figures}"
        )


def refutation_test(
    quantifier: OffersSubclasses,
    X_train: Any,
    X: Any,
    *,
    family: str = "subclasses",
    random_state: int = 0,
    sample_weight: ArrayLike | None = None,
) -> Refutation:
    """Test the sample X (unlabelled items) with a SubclassSLD fitted on X_train.

    X_train, X: numeric features, dense or sparse. family: the model to test, any shift of
    "subclasses" or only "prior" shift. weights: of the items of X.
    """
    items = quantifier.items(X, sample_weight)
    all_items = [np.arange(len(items))]
    return refutation_tests(
        quantifier, X_train, items, X, all_items, family=family, random_state=random_state
    )[0]


def refutation_tests(
    quantifier: OffersSubclasses,
    X_train: Any,
    items: Items,
    X: Any,
    samples: Sequence[Indices],
    *,
    family: str = "subclasses",
    random_state: int = 0,
) -> list[Refutation]:
    """Test many samples of the items that `quantifier.items(X)` returned.

    X_train, X: features of the training items, in the order of the fit, and of the items. A
    sample's result is the same as if it were tested alone.
    """
    check_is_fitted(quantifier, "classes_")
    reference = Reference.of(X_train, seed=random_state)
    held_out, codes = quantifier.held_out_, quantifier.held_out_codes_
    if len(reference) != len(codes):
        raise DataError(
            f"X_train has {len(reference)} items, the quantifier was fitted on {len(codes)}; give "
            "the items of the fit, in its order and without those of weight zero"
        )
    clusters = held_out.features if isinstance(held_out.features, Clusters) else None
    training = ModelledTraining.of(
        reference, codes, len(quantifier.classes_), clusters, held_out.weights
    )
    position = reference.place(X)
    if len(position) != len(items):
        raise DataError(f"X has {len(position)} rows for {len(items)} items; give one per item")
    diagnostics = quantifier.estimate_items(items, list(samples)).diagnostics
    shares = modelled_shares(diagnostics, family)
    outcomes = []
    for f, rows in zip(shares, samples, strict=True):
        sample_weights = None if items.weights is None else items.weights[rows]
        comparison = training.compared(position[rows], f, family, sample_weights)
        outcomes.append(
            Refutation(
                comparison.refuted,
                comparison.auc,
                comparison.z,
                comparison.explained,
                comparison.in_doubt,
            )
        )
    return outcomes
