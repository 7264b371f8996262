"""Other tools that combine verdicts with labels, where they are installed.

Each takes verdicts of all items (0 or 1), labels (-1 for none) and clusters or None, and gives an
estimate and the limits of a 95% interval; an error counts as the interval from 0 to 1. None of them
asks how the labelled items were chosen, and their intervals are for the population that items were
drawn from.
"""

import warnings
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Limits = tuple[float, float]
Found = tuple[float, float, float]
"""The estimate and the limits."""
Rival = Callable[[Ints, Ints, Ints | None], Found]


def _with_ppi_python(v: Ints, labels: Ints, clusters: Ints | None) -> Found:
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    known = labels >= 0
    given = (labels[known].astype(float), v[known].astype(float), v[~known].astype(float))
    low, high = ppi_mean_ci(*given, alpha=0.05)
    middle = ppi_mean_pointestimate(*given)
    return tuple(float(np.squeeze(x)) for x in (middle, low, high))  # type: ignore[return-value]


def _with_truescore(v: Ints, labels: Ints, clusters: Ints | None) -> Found:
    from truescore.correct import ppi_estimate

    known = np.flatnonzero(labels >= 0)
    found = ppi_estimate(v.astype(float), labels[known].astype(float), known)
    return float(found.point), float(found.low), float(found.high)


def _with_glide(v: Ints, labels: Ints, clusters: Ints | None) -> Found:
    """With clusters by its estimator for whole clusters."""
    from glide.estimators import ClusteredPPIMeanEstimator, PPIMeanEstimator

    y = np.where(labels >= 0, labels, np.nan)
    if clusters is None:
        found = PPIMeanEstimator().estimate(y, v.astype(float))
    else:
        found = ClusteredPPIMeanEstimator().estimate(y, v.astype(float), clusters)
    interval = found.confidence_interval
    return float(found.mean), float(interval.lower_bound), float(interval.upper_bound)


def _with_judgy(v: Ints, labels: Ints, clusters: Ints | None) -> Found:
    """Rogan-Gladen with a bootstrap."""
    from judgy import estimate_success_rate

    known = labels >= 0
    found = estimate_success_rate(labels[known], v[known], v[~known])
    return tuple(map(float, found))  # type: ignore[return-value]


def _with_evalstats(v: Ints, labels: Ints, clusters: Ints | None) -> Found:
    from evalstats import judge_debias_mean_ci

    y = np.where(labels >= 0, labels, np.nan)
    found = judge_debias_mean_ci(v.astype(float), y, rng=np.random.default_rng(0))
    return float(found.mean), float(found.ci_low), float(found.ci_high)


RIVALS: dict[str, tuple[str, Rival]] = {
    "ppi-python": ("ppi_py", _with_ppi_python),
    "truescore": ("truescore", _with_truescore),
    "glide-py": ("glide", _with_glide),
    "judgy": ("judgy", _with_judgy),
    "evalstats": ("evalstats", _with_evalstats),
}
"""The module and the function of each, by the name of its distribution."""


def installed() -> dict[str, Rival]:
    """Those that can be imported; the others are named."""
    found = {}
    for name, (module, rival) in RIVALS.items():
        if find_spec(module) is None:
            print(f"{name} is not installed: left out")
        else:
            found[name] = rival
    return found


def found_by(rival: Rival, v: Ints, labels: Ints, clusters: Ints | None) -> Found:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            middle, low, high = np.clip(rival(v, labels, clusters), 0.0, 1.0)
        except Exception:  # whatever a tool raises, it has no answer
            return np.nan, 0.0, 1.0
    whole = np.isfinite([low, high]).all()
    return (float(middle), float(low), float(high)) if whole else (float(middle), 0.0, 1.0)


def limits_of(rival: Rival, v: Ints, labels: Ints, clusters: Ints | None) -> Limits:
    return found_by(rival, v, labels, clusters)[1:]
