"""Tasche, "Confidence intervals for class prevalences under prior probability shift" (1906.04119).

A simulation study with scores that are normal in both classes with the same spread. What could be
read of it here are the abstract and the introduction; its tables could not, so nothing of them is
quoted. The numbers beside ours are closed forms of the same design, with distances, sizes and
shares of our own choice: the standard error that no unbiased estimate can be below (Fisher's
information of the share in a mixture of two known distributions), the length of the interval that
has exactly this error, and the nominal coverage. The classifier is the true posterior, held-out
items are many, so that only the sample is random.
"""

import numpy as np
import pytest
from scipy import stats

from quantshift.quantifiers import SLD
from tests.published.numbers import Ours, Printed

DESIGN = "Tasche 2019, closed form of its design"
SETTINGS = [(1.0, 500, 0.2), (1.5, 500, 0.2), (1.5, 500, 0.5), (2.5, 500, 0.2), (2.5, 100, 0.5)]
LEVEL = 0.9
DRAWS = 400


def scores(labels: np.ndarray, distance: float, rng: np.random.Generator) -> np.ndarray:
    """Posteriors of both classes for equal shares."""
    x = rng.normal(distance * labels)
    positive = 1 / (1 + np.exp(-distance * (x - distance / 2)))
    return np.stack([1 - positive, positive], axis=-1)


def least_error(distance: float, n: int, p: float) -> float:
    """The square root of the Cramer-Rao bound."""
    x = np.linspace(-10, distance + 10, 200_001)
    negative, positive = stats.norm.pdf(x), stats.norm.pdf(x, distance)
    ratio = (positive - negative) ** 2 / (p * positive + (1 - p) * negative)
    return float(1 / np.sqrt(n * np.trapezoid(ratio, x)))


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_error_coverage_and_length(setting, meets):
    distance, n, p = setting
    rng = np.random.default_rng(int(100 * distance) + n)
    y = np.repeat([0, 1], 10_000)
    known = scores(y, distance, rng)
    labels = rng.random((DRAWS, n)) < p  # the share is that of the population
    pool = scores(labels.ravel(), distance, rng)
    samples = np.arange(DRAWS * n).reshape(DRAWS, n)
    fitted = SLD(calibration="none").fit_posteriors(known, y)
    estimates = fitted.aggregate(pool, samples)[:, 1]
    found = fitted.aggregate_interval(pool, samples, level=LEVEL, n_bootstrap=200)
    low, high = found.low[:, 1], found.high[:, 1]
    what = f"distance {distance}, {n} items, share {p}"
    least = least_error(distance, n, p)
    spread, length = float(estimates.std()), float((high - low).mean())
    held = float(np.mean((low <= p) & (p <= high)))
    many = "an asymptotic bound; the 20,000 held-out items add a little"
    meets(
        Printed(DESIGN, f"{what}: standard error", least, 4),
        Ours(spread, error=spread / (2 * DRAWS) ** 0.5, apart=0.1 * least, why=many),
    )
    meets(
        Printed(DESIGN, f"{what}: coverage of 90% intervals", LEVEL, 2),
        Ours(held, error=(held * (1 - held) / DRAWS) ** 0.5),
    )
    meets(
        Printed(DESIGN, f"{what}: their mean length", 2 * stats.norm.isf(0.05) * least, 4),
        Ours(
            length,
            error=float((high - low).std() / DRAWS**0.5),
            apart=0.12 * 2 * 1.645 * least,
            why=many,
        ),
    )
