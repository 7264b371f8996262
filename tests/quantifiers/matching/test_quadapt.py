"""QuaDapt: exact histograms of the score model, the model it was drawn from, its options."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from quantshift.errors import UserError
from quantshift.quantifiers import QuaDapt
from quantshift.quantifiers.matching.quadapt import MERGING_FACTORS, score_histograms


def drawn(m: float, n: int, p: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors of the model, and their classes."""
    y = (np.arange(n) < p * n).astype(int)
    u = np.random.default_rng(seed).random(n) ** m
    s = np.where(y == 1, u, 1 - u)
    return np.column_stack([1 - s, s]), y


@pytest.mark.parametrize("m", MERGING_FACTORS)
def test_histograms_are_those_of_the_model(m: float) -> None:
    known, y = drawn(m, 400_000, 0.5, 0)
    expected = [np.histogram(known[y == k, 1], 10, (0, 1))[0] / 200_000 for k in (0, 1)]
    # Shares of 200,000 items have standard errors of .0011 at most.
    assert_allclose(score_histograms(m, 10)[:, 0], expected, atol=0.005)
    assert_allclose(score_histograms(m, 10).sum(axis=-1), 1)


@pytest.mark.parametrize("m", [0.1, 0.3, 0.5, 0.7])
def test_model_and_prevalence_are_found(m: float) -> None:
    """Whatever the training items look like; samples of 100,000, .01 is four standard errors."""
    fitted = QuaDapt().fit_posteriors(*drawn(0.2, 100, 0.5, 0))
    sample, y = drawn(m, 100_000, 0.3, 1)
    estimate = fitted.estimate_posteriors(sample)
    assert estimate.prevalence[1] == pytest.approx(y.mean(), abs=0.01)
    assert estimate.diagnostics["merging_factor"] == pytest.approx(m)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_the_nearest_model_is_taken(n_classes: int) -> None:
    """Each alone: the estimate is that of the model with the least distance."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % n_classes
    sample = rng.dirichlet(np.full(n_classes, 0.4), 60)
    known = rng.dirichlet(np.full(n_classes, 0.4), 40)
    estimate = QuaDapt().fit_posteriors(known, y).estimate_posteriors(sample)
    alone = [
        QuaDapt(merging_factors=[m]).fit_posteriors(known, y).estimate_posteriors(sample)
        for m in MERGING_FACTORS
    ]
    distances = [float(each.diagnostics["distance"]) for each in alone]
    if n_classes == 2:
        best = int(np.argmin(distances))
        assert_allclose(estimate.prevalence, alone[best].prevalence)
        assert estimate.diagnostics["merging_factor"] == MERGING_FACTORS[best]
    assert estimate.diagnostics["distance"] <= min(distances) + 1e-12
    assert estimate.prevalence.sum() == pytest.approx(1)


def test_options_are_checked() -> None:
    known, y = drawn(0.3, 40, 0.5, 0)
    for factors in ([], [0.5, 1.0], [0.0]):
        with pytest.raises(UserError, match="merging_factors"):
            QuaDapt(merging_factors=factors).fit_posteriors(known, y)
    with pytest.raises(UserError, match="n_bins of QuaDapt must be a whole number of at least 2"):
        QuaDapt(n_bins=1).fit_posteriors(known, y)
    with pytest.raises(UserError, match="divergence"):
        QuaDapt(divergence="tops").fit_posteriors(known, y)


def test_a_sample_in_the_middle_bin_gets_the_training_prevalence() -> None:
    known, y = drawn(0.3, 100, 0.3, 0)
    middle = np.full((5, 2), 0.5)
    assert_allclose(QuaDapt(n_bins=3).fit_posteriors(known, y).aggregate(middle), [0.7, 0.3])
