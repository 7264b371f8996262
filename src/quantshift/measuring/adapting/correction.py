"""Posteriors corrected from the training prevalence to that of a sample.

Under label shift, P(x | y) is that of training, and Bayes' rule gives the posteriors at another
prevalence p: proportional to q_k p_k / pi_k, where q are calibrated posteriors at the training
prevalence pi. A correction of strength s between 0 (as trained) and 1 moves the log-odds of every
item by the fraction s of the way.

Reference: M. Saerens et al., "Adjusting the outputs of a classifier to new a priori probabilities:
a simple procedure", Neural Computation 14 (2002).
"""

from dataclasses import dataclass, field

import numpy as np

from quantshift.base.types import Posteriors, Prevalences
from quantshift.classify.calibration.calibration import Calibrator, NoCalibration

SMALLEST = 1e-12
"""Posteriors and shares that are smaller count as this, so that their logarithm exists."""


def smoothed(prevalence: Prevalences, n_items: float) -> Prevalences:
    """The shares as if one more item of each class were among the n_items.

    Probabilities that are corrected to a share of zero would be zero whatever an item looks like.

    >>> smoothed(np.array([0.0, 1.0]), 8)
    array([0.1, 0.9])
    """
    return np.asarray((n_items * prevalence + 1) / (n_items + len(prevalence)))


@dataclass(frozen=True, eq=False)
class Correction:
    """From posteriors as trained to posteriors at another prevalence.

    prior, prevalence: of training and of the sample, (n_classes,). strength: from 0 to 1.
    calibrator: calibrates posteriors as trained, at the training prevalence.
    """

    prior: Prevalences
    prevalence: Prevalences
    strength: float = 1.0
    calibrator: Calibrator = field(default_factory=NoCalibration)

    def __call__(self, posteriors: Posteriors) -> Posteriors:
        """The corrected posteriors, (n_items, n_classes); at strength 0 the same array."""
        if self.strength == 0 or not len(posteriors):
            return posteriors
        joint = self.calibrator(posteriors) * (self.prevalence / self.prior)
        if self.strength < 1:
            as_trained = (1 - self.strength) * np.log(np.maximum(posteriors, SMALLEST))
            logits = as_trained + self.strength * np.log(np.maximum(joint, SMALLEST))
            joint = np.exp(logits - logits.max(axis=1, keepdims=True))
        total = joint.sum(axis=1, keepdims=True)
        # An item that can only be of classes with share 0 keeps its posteriors.
        corrected = np.divide(joint, total, out=posteriors.copy(), where=total > 0)
        return np.asarray(corrected)
