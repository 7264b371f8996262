"""What a quantifier returns about samples."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from numpy.typing import NDArray

from quantshift.base.types import Prevalences

Diagnostics = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, repr=False)
class Estimate:
    """A prevalence with diagnostics.

    Parameters
    ----------
    prevalence : array
        Shape (..., n_classes), each row on the simplex, in the order of `classes`.
    classes : array
        The class labels, shape (n_classes,).
    diagnostics : dict
        Per sample, arrays of shape (...); which ones depends on the method, e.g. `clipped` and
        `separation` (tpr - fpr) of ACC, `iterations` and `converged` of SLD, `distance` of DyS;
        `fallback` if a simpler estimate was used instead.

    Examples
    --------
    >>> import numpy as np
    >>> estimate = Estimate(np.array([0.3, 0.7]), np.array(["ham", "spam"]), {})
    >>> dict(zip(estimate.classes.tolist(), estimate.prevalence.tolist(), strict=True))
    {'ham': 0.3, 'spam': 0.7}
    """

    prevalence: Prevalences
    classes: NDArray[Any]
    diagnostics: Diagnostics

    def __repr__(self) -> str:
        """One line: the share of each class, or how many samples there are, and the diagnostics."""
        names = f"; diagnostics: {', '.join(self.diagnostics)}" if self.diagnostics else ""
        if self.prevalence.ndim > 1:
            shape = " x ".join(map(str, self.prevalence.shape[:-1]))
            return f"Estimate({shape} samples, {len(self.classes)} classes{names})"
        pairs = zip(self.classes.tolist(), self.prevalence.tolist(), strict=True)
        shown = ", ".join(f"{label}: {100 * share:.1f}%" for label, share in islice(pairs, 10))
        more = ", ..." if len(self.classes) > 10 else ""
        return f"Estimate({shown}{more}{names})"
