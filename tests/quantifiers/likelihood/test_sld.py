import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import softmax

from quantshift import SLD, OrdinalSLD
from quantshift.errors import UserError
from quantshift.quantifiers import OrdinalLikelihood


def test_confident_posteriors_do_not_end_at_a_border() -> None:
    """90 items nearly certain to be positive, 10 the opposite: the likelihood is highest at .9."""
    known, y = [[0.9, 0.1]] * 8 + [[0.1, 0.9]] * 2, [0] * 8 + [1] * 2
    quantifier = SLD(calibration="none").fit_posteriors(known, y)
    for doubt in (1e-3, 1e-7, 1e-12, 1e-16):
        positive, negative = [doubt, 1 - doubt], [1 - doubt, doubt]
        estimate = quantifier.estimate_posteriors([positive] * 90 + [negative] * 10)
        assert estimate.diagnostics["converged"]
        assert estimate.prevalence[1] == pytest.approx(0.9, abs=5 * doubt + 1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_estimates_satisfy_the_conditions_of_a_maximum(n_classes: int) -> None:
    """Good and poor classifiers: with prior-adjusted w = r / (p . r), mean w <= 1, = 1 if p > 0."""
    rng = np.random.default_rng(n_classes)
    y = rng.integers(n_classes, size=3000)
    for sharpness in (0.5, 2, 8):
        z = rng.normal(size=(3000, n_classes)) + sharpness * np.eye(n_classes)[y]
        posteriors = softmax(sharpness * z, axis=1)
        quantifier = SLD(calibration="none").fit_posteriors(posteriors, y)
        index = rng.integers(3000, size=(40, 200))
        index[20:] = rng.choice(np.flatnonzero(y == 0), (20, 200))  # at a border
        estimate = quantifier.estimate_posteriors(posteriors, index)
        assert estimate.diagnostics["converged"].all()
        for p, rows in zip(estimate.prevalence, posteriors[index] / quantifier.prior_, strict=True):
            gain = (rows / (rows @ p)[:, np.newaxis]).mean(axis=0)
            assert gain.max() <= 1 + 1e-7
            assert np.abs(gain[p > 0] - 1).max() <= 1e-7


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


def test_no_calibration_may_be_called_none_or_be_none() -> None:
    """Before, `calibration=None` was a TypeError."""
    known, y = [[0.9, 0.1]] * 8 + [[0.1, 0.9]] * 2, [0] * 7 + [1] * 3
    named, unnamed = (SLD(calibration=name).fit_posteriors(known, y) for name in ("none", None))
    assert (named.aggregate(known) == unnamed.aggregate(known)).all()
    assert not SLD(calibration=None).needs_held_out_posteriors()
    with pytest.raises(UserError, match="calibration of SLD must be 'auto', 'sigmoid'"):
        SLD(calibration=3).fit_posteriors(known, y)  # type: ignore[arg-type]


def test_unknown_calibration() -> None:
    with pytest.raises(UserError, match="'nbvs', 'none' or None, got 'platt'"):
        SLD(calibration="platt").fit_posteriors([[0.5, 0.5]] * 4, [0, 1, 0, 1])


@pytest.mark.parametrize("method", [SLD, OrdinalSLD, OrdinalLikelihood])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("calibration", ["auto", "sigmoid", "isotonic", "temperature", "nbvs"])
def test_posteriors_that_are_constant_after_calibration_give_the_training_prevalence(
    method: type, n_classes: int, calibration: str
) -> None:
    """Platt's targets differ from the training prevalence, and rounding would do for a corner."""
    y = np.repeat(np.arange(n_classes), 10 * (1 + np.arange(n_classes)))
    shares = np.bincount(y) / len(y)  # a line, which no penalty of second differences changes
    known = np.full((len(y), n_classes), 1 / n_classes)
    estimate = method(calibration=calibration).fit_posteriors(known, y).aggregate(known[:30])
    assert_allclose(estimate, shares, atol=1e-6)
