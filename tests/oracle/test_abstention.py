"""Calibrations of the package `abstention`, which those of other quantification libraries are."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from quantshift.classify.calibration.calibration import CALIBRATIONS
from quantshift.classify.calibration.scaling import logits_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it imports scipy.misc
    from abstention.calibration import NoBiasVectorScaling, TempScaling, VectorScaling


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize(
    ("name", "factory"),
    [
        ("temperature", TempScaling()),
        ("bcts", TempScaling(bias_positions="all")),
        ("vs", VectorScaling()),
        ("nbvs", NoBiasVectorScaling()),
    ],
)
def test_no_loss_above_theirs(name: str, factory: object, n_classes: int) -> None:
    """Theirs ends where its optimiser does, 1e-3 in the parameters and 1e-6 in the loss."""
    rng = np.random.default_rng(n_classes)
    honest = softened(rng.dirichlet(np.ones(n_classes), 3000))
    codes = (rng.random((3000, 1)) > honest.cumsum(axis=1)).sum(axis=1)
    loud = honest**1.7 * rng.uniform(0.5, 2.0, n_classes)
    loud /= loud.sum(axis=1, keepdims=True)
    theirs = factory(loud, np.eye(n_classes)[codes], posterior_supplied=True)(loud)
    fitted = CALIBRATIONS[name](loud, codes)
    ours = fitted(loud)
    rows = np.arange(3000)
    assert -np.log(ours[rows, codes]).mean() <= -np.log(theirs[rows, codes]).mean() + 1e-8
    assert_allclose(ours, theirs, atol=2e-3)
    if name == "vs":
        slopes, offsets = factory._get_optimal_ws_and_biases(
            logits_of(loud), np.eye(n_classes)[codes]
        )
        assert_allclose(fitted.slopes, slopes, atol=2e-3)
        assert_allclose(fitted.offsets, offsets - offsets.mean(), atol=2e-3)


def softened(p: np.ndarray) -> np.ndarray:
    return (p + 1e-3) / (p + 1e-3).sum(axis=1, keepdims=True)
