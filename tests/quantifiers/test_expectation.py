import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from quantshift import SLD
from quantshift.errors import UserError
from quantshift.quantifiers.expectation import expectation_maximisation, maximise_binary


@given(st.integers(0, 100_000), st.floats(0.02, 0.98))
def test_newton_finds_the_maximum_of_the_likelihood(seed: int, start: float) -> None:
    rng = np.random.default_rng(seed)
    ratio = rng.beta(*rng.uniform(0.2, 3, 2), size=(1, rng.integers(1, 60)))
    q, _, converged = maximise_binary(ratio, start, tol=1e-9, max_iter=200)

    def loss(q: float) -> float:
        return -float(np.log(q * ratio + (1 - q) * (1 - ratio) + 1e-300).mean())

    found = minimize_scalar(loss, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    assert converged.all()
    assert loss(q[0]) <= min(found.fun, loss(0.0), loss(1.0)) + 1e-12


@given(st.integers(0, 100_000))
def test_newton_stands_where_em_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ratio = rng.beta(0.5, 0.5, size=(3, 80))
    newton, _, _ = maximise_binary(ratio, 0.4, tol=1e-10, max_iter=100)
    em, _, converged = expectation_maximisation(
        np.stack([1 - ratio, ratio]), np.array([0.6, 0.4]), tol=1e-12, max_iter=100_000
    )
    assert converged.all()
    assert_allclose(newton, em[:, 1], atol=1e-5)


def test_borders_are_reached_exactly() -> None:
    certain = np.array([[0.0] * 10, [1.0] * 10, [1.0] * 3 + [0.0] * 7])
    q, _, converged = maximise_binary(certain, 0.5, tol=1e-9, max_iter=100)
    assert_allclose(q, [0.0, 1.0, 0.3], atol=1e-12)
    assert converged.all()


def test_uninformative_posteriors_give_the_training_prevalence() -> None:
    known, y = np.tile([0.7, 0.3], (10, 1)), [0] * 7 + [1] * 3
    estimate = SLD(calibration="none").fit_posteriors(known, y).estimate_posteriors(known[:4])
    assert_allclose(estimate.prevalence, [0.7, 0.3])
    assert estimate.diagnostics["converged"]


def test_samples_that_do_not_converge_say_so() -> None:
    rng = np.random.default_rng(0)
    known = rng.dirichlet([0.3] * 3, 60)
    y = np.arange(60) % 3
    strict = SLD(calibration="none", tol=1e-15, max_iter=2).fit_posteriors(known, y)
    estimate = strict.estimate_posteriors(known[:30])
    assert not estimate.diagnostics["converged"]
    assert estimate.diagnostics["iterations"] == 2
    patient = SLD(calibration="none", max_iter=10_000).fit_posteriors(known, y)
    assert patient.estimate_posteriors(known[:30]).diagnostics["converged"]


def test_a_sample_s_estimate_does_not_depend_on_its_neighbours() -> None:
    rng = np.random.default_rng(0)
    known, y = rng.dirichlet([0.5] * 3, 90), np.arange(90) % 3
    quantifier = SLD().fit_posteriors(known, y)
    samples = rng.dirichlet([0.3, 1, 2], (20, 40))
    together = quantifier.aggregate(samples)
    assert (together[7] == quantifier.aggregate(samples[5:9])[2]).all()


def test_unknown_calibration() -> None:
    with pytest.raises(UserError, match="unknown calibration 'platt'; known: isotonic, none"):
        SLD(calibration="platt").fit_posteriors([[0.5, 0.5]] * 4, [0, 1, 0, 1])
