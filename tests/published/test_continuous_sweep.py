"""Kloos et al., "Continuous Sweep for binary quantification learning" (2308.08387).

The simulations draw samples from two normal distributions that the method knows, with means 0 and 1
(github.com/kevinkloos/cs1, commit 1f89916, sim1.R and its list of settings). The page of the paper
could be read as far as its abstract, which claims that Continuous Sweep outperforms Median Sweep,
and the repository keeps no results. So the numbers beside ours are the paper's expressions of bias
(none) and variance, computed by another way than ours: a double integral over thresholds with the
covariance of two counts, on a grid. Our method learns the distributions from items, here 20,000
quantiles of each. Where the standard error is above a tenth, limits at 0 and 1 matter: the settings
are those in which an estimate is hardly ever clipped.
"""

import numpy as np
import pytest
from scipy import stats

from quantshift.quantifiers import MS, ContinuousSweep
from tests.published.numbers import Ours, Printed

FORMULAS = "Kloos et al. 2023, formulas"
SETTINGS = [
    (n, negative, positive, p)
    for n in (100, 1000)
    for negative, positive in ((0.5, 0.5), (0.5, 1.0), (1.0, 0.5), (1.0, 1.0))
    for p in (0.3, 0.9)
    if n == 1000 or (negative, positive, p) == (0.5, 0.5, 0.3)
]
PART = 0.5
"""p_delta, as a part of the largest difference of the rates."""
DRAWS = 2000


def posteriors(x: np.ndarray) -> np.ndarray:
    """Whose log-odds are x."""
    positive = 1 / (1 + np.exp(-x))
    return np.stack([1 - positive, positive], axis=-1)


def known_items(negative: float, positive: float) -> tuple[np.ndarray, np.ndarray]:
    quantiles = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    x = np.concatenate([negative * quantiles, 1 + positive * quantiles])
    return posteriors(x), np.repeat([0, 1], 20_000)


def draw(n: int, negative: float, positive: float, p: float) -> tuple[np.ndarray, np.ndarray]:
    """A pool of all samples, and which items are in which."""
    rng = np.random.default_rng([n, int(10 * negative), int(10 * positive), int(10 * p)])
    n_positive = round(n * p)
    x = rng.normal(0, negative, (DRAWS, n))
    x[:, :n_positive] = rng.normal(1, positive, (DRAWS, n_positive))
    return posteriors(x.ravel()), np.arange(DRAWS * n).reshape(DRAWS, n)


def by_double_integral(n: int, negative: float, positive: float, p: float) -> float:
    """The standard error of Continuous Sweep, over thresholds where the rates differ enough."""
    grid = np.linspace(-8, 9, 170_001)
    tpr, fpr = stats.norm.sf(grid, 1, positive), stats.norm.sf(grid, 0, negative)
    enough = grid[tpr - fpr >= PART * (tpr - fpr).max()]
    t = np.linspace(enough[0], enough[-1], 1501)
    tpr, fpr = stats.norm.sf(t, 1, positive), stats.norm.sf(t, 0, negative)
    covariance = p * (np.minimum.outer(tpr, tpr) - np.outer(tpr, tpr))
    covariance += (1 - p) * (np.minimum.outer(fpr, fpr) - np.outer(fpr, fpr))
    weight = np.full(len(t), 1.0)
    weight[[0, -1]] = 0.5
    weight /= (len(t) - 1) * (tpr - fpr)
    return float(np.sqrt(weight @ covariance @ weight / n))


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_bias_and_standard_error(setting, meets):
    n, negative, positive, p = setting
    expected = by_double_integral(n, negative, positive, p)
    x, y = known_items(negative, positive)
    rates = stats.norm.sf(np.linspace(-8, 9, 17_001)[:, None], [0, 1], [negative, positive])
    p_delta = PART * float(np.diff(rates).max())
    pool, samples = draw(n, negative, positive, p)
    found = ContinuousSweep(p_delta=p_delta).fit_posteriors(x, y).aggregate(pool, samples)[:, 1]
    assert np.mean((found <= 0) | (found >= 1)) < 0.02, "a setting where limits do not matter"
    what = f"n {n}, spreads {negative} and {positive}, share {p}"
    spread = float(found.std())
    spread = float(found.std())
    meets(
        Printed(FORMULAS, f"{what}: bias", 0.0, 4),
        Ours(float(found.mean() - p), error=spread / DRAWS**0.5),
    )
    meets(
        Printed(FORMULAS, f"{what}: standard error", expected, 4),
        Ours(spread, error=spread / (2 * DRAWS) ** 0.5),
    )


@pytest.mark.slow
def test_it_outperforms_median_sweep():
    """In a wide range of settings, as the abstract claims, but not in all of them.

    Median Sweep is better where the spreads are equal and nine of ten items are positive.
    """
    ratios = {}
    for setting in SETTINGS:
        n, negative, positive, p = setting
        x, y = known_items(negative, positive)
        pool, samples = draw(n, negative, positive, p)
        ours, theirs = (
            ((method.fit_posteriors(x, y).aggregate(pool, samples)[:, 1] - p) ** 2).mean()
            for method in (ContinuousSweep(), MS())
        )
        ratios[setting] = ours / theirs
    assert np.exp(np.mean(np.log(list(ratios.values())))) < 0.9
    worse = {setting for setting, ratio in ratios.items() if ratio > 1.05}
    assert worse <= {(1000, 0.5, 0.5, 0.9), (1000, 1.0, 1.0, 0.9)}
