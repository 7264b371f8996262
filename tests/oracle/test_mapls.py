"""QuaPy's MAPLS, whose expectation maximisation is given time to converge."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from quapy.method._bayesian import mapls, mapls_em

from quantshift import SLD
from quantshift.quantifiers import MAPLS


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_same_maximum(n_classes: int) -> None:
    """Theirs stops after 100 steps by default; after 2,000 it is at the maximum, too."""
    rng = np.random.default_rng(n_classes)
    prior = rng.dirichlet(np.full(n_classes, 3.0))

    def drawn(n: int, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = rng.choice(n_classes, n, p=p)
        odds = prior * np.exp(1.5 * (rng.normal(size=(n, n_classes)) + 1.5 * np.eye(n_classes)[y]))
        return odds / odds.sum(axis=1, keepdims=True), y

    known, y = drawn(2000, prior)
    sample, _ = drawn(300, rng.dirichlet(np.ones(n_classes)))
    quantifier = MAPLS(calibration="none", tol=1e-9).fit_posteriors(known, y)
    found = quantifier.estimate_posteriors(sample)
    reference, weight = mapls(known, sample, quantifier.prior_, max_iter=2000, return_lambda=True)
    assert_allclose(found.prevalence, reference, atol=1e-6)
    assert found.diagnostics["sample_weight"] == pytest.approx(weight, abs=1e-6)
    # A fixed prior is a fixed weight.
    plain = SLD(calibration="none", prior=5.0, tol=1e-9).fit_posteriors(known, y)
    weight = 300 / (300 + 4 * n_classes)
    uniform = np.full(n_classes, 1 / n_classes)
    expected = mapls_em(sample, plain.prior_, weight, uniform, n_classes, max_iter=2000)
    assert_allclose(plain.aggregate(sample), expected, atol=1e-6)
