"""Choice of hyper-parameters: the setting with the least error over validation samples.

The samples are artificial-prevalence ones (a grid of prevalences, each drawn several times) of the
held-out part of the training set. That part is small: a class with fewer items than a sample asks
for is drawn with replacement, as is usual in the field.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from quantshift import metrics
from quantshift.classify.clusters import Clusters
from quantshift.prevalence import of_positive, whole_counts
from quantshift.quantifiers.estimator import AbstractQuantifier
from quantshift.seeding import generator
from quantshift.types import Codes, Indices, Posteriors, Prevalences


@dataclass(frozen=True)
class ValidationSamples:
    """Samples of held-out items: an index matrix and the true prevalences."""

    index: Indices
    p_true: Prevalences
    smoothing: float

    def errors(self, p_hat: Prevalences, measure: str) -> NDArray[np.float64]:
        """The measure of each sample's estimate."""
        return metrics.measure(measure, self.p_true, p_hat, smoothing=self.smoothing)


def draw_validation(
    codes: Codes, *, n_prevalences: int, repeats: int, size: int, seed: int
) -> ValidationSamples:
    """Artificial-prevalence samples over binary codes; positions refer to `codes`."""
    members = [np.flatnonzero(codes == code) for code in (0, 1)]
    rows, p_true = [], []
    for p in np.linspace(0, 1, n_prevalences):
        counts = whole_counts([1 - p, p], size)
        for repeat in range(repeats):
            rng = generator(seed, purpose="validation", p=float(p), repeat=repeat, size=size)
            rows.append(
                np.concatenate(
                    [
                        rng.choice(pool, count, replace=bool(count > pool.size))
                        for pool, count in zip(members, counts, strict=True)
                    ]
                )
            )
            p_true.append(counts[1] / size)
    return ValidationSamples(np.stack(rows), of_positive(p_true), 1 / (2 * size))


def validation_errors(
    quantifier: AbstractQuantifier,
    out_of_fold: Posteriors,
    codes: Codes,
    held_out: Posteriors,
    samples: ValidationSamples,
    *,
    measure: str = "ae",
    clusters: tuple[Clusters, Clusters] | None = None,
) -> NDArray[np.float64]:
    """Mean error of the quantifier under each setting's posteriors, shape (n_settings,).

    out_of_fold: posteriors of the training part, (n_settings, n_items, 2), with `codes`.
    held_out: posteriors of the held-out part that the samples index, (n_settings, n_held_out, 2).
    clusters: of the items of either part, for quantifiers over subclasses.
    """
    of_known, of_new = ({}, {}) if clusters is None else ({"clusters": c} for c in clusters)
    return np.array(
        [
            samples.errors(
                clone(quantifier)
                .fit_posteriors(known, codes, classes=[0, 1], **of_known)
                .estimate_posteriors(new, samples.index, **of_new)
                .prevalence,
                measure,
            ).mean()
            for known, new in zip(out_of_fold, held_out, strict=True)
        ]
    )
