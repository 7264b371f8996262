"""Other tools that combine verdicts with labels, where they are installed.

Each takes verdicts of all items (0 or 1), labels (-1 for none) and clusters or None, and gives the
limits of a 95% interval; an error counts as the interval from 0 to 1. None of them asks how the
labelled items were chosen, and their intervals are for the population that items were drawn from.
"""

import warnings
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Limits = tuple[float, float]
Rival = Callable[[Ints, Ints, Ints | None], Limits]


def _with_ppi_python(v: Ints, labels: Ints, clusters: Ints | None) -> Limits:
    from ppi_py import ppi_mean_ci

    known = labels >= 0
    found = ppi_mean_ci(
        labels[known].astype(float),
        v[known].astype(float),
        v[~known].astype(float),
        alpha=0.05,
    )
    return float(np.squeeze(found[0])), float(np.squeeze(found[1]))


def _with_truescore(v: Ints, labels: Ints, clusters: Ints | None) -> Limits:
    from truescore.correct import ppi_estimate

    known = np.flatnonzero(labels >= 0)
    found = ppi_estimate(v.astype(float), labels[known].astype(float), known)
    return float(found.low), float(found.high)


def _with_glide(v: Ints, labels: Ints, clusters: Ints | None) -> Limits:
    """With clusters by its estimator for whole clusters."""
    from glide.estimators import ClusteredPPIMeanEstimator, PPIMeanEstimator

    y = np.where(labels >= 0, labels, np.nan)
    if clusters is None:
        found = PPIMeanEstimator().estimate(y, v.astype(float))
    else:
        found = ClusteredPPIMeanEstimator().estimate(y, v.astype(float), clusters)
    interval = found.confidence_interval
    return float(interval.lower_bound), float(interval.upper_bound)


RIVALS: dict[str, tuple[str, Rival]] = {
    "ppi-python": ("ppi_py", _with_ppi_python),
    "truescore": ("truescore", _with_truescore),
    "GLIDE": ("glide", _with_glide),
}


def installed() -> dict[str, Rival]:
    """Those that can be imported; the others are named."""
    found = {}
    for name, (module, rival) in RIVALS.items():
        if find_spec(module) is None:
            print(f"{name} is not installed: left out")
        else:
            found[name] = rival
    return found


def limits_of(rival: Rival, v: Ints, labels: Ints, clusters: Ints | None) -> Limits:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            low, high = np.clip(rival(v, labels, clusters), 0.0, 1.0)
        except Exception:  # whatever a tool raises, it has no answer
            return 0.0, 1.0
    return (float(low), float(high)) if np.isfinite([low, high]).all() else (0.0, 1.0)
