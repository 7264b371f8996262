"""Our estimates beside QuaPy 0.2.3's, from the same posteriors and {0, 1} labels."""

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from quantshift import ACC, CC, PACC, PCC, SLD, DyS, metrics
from quantshift.optimise.divergences import topsoe
from quantshift.quantifiers import SMM, HDx, HDy
from quantshift.quantifiers.matching.matching import HDY_BINS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import quapy as qp
    from quapy.method import aggregative as quapy
    from quapy.method.non_aggregative import DMx


@pytest.fixture(scope="module")
def problem() -> dict[str, np.ndarray]:
    """Posteriors of labelled items and 60 samples over the whole range of prevalences."""
    rng = np.random.default_rng(0)

    def posteriors(y: np.ndarray) -> np.ndarray:
        p = 1 / (1 + np.exp(-1.2 * rng.normal(1.2 * (2 * y - 1), 1.3)))
        return np.column_stack([1 - p, p])

    y = rng.permutation([0] * 600 + [1] * 400)
    prevalences = np.linspace(0, 1, 60)
    labels = (np.arange(200) < np.round(200 * prevalences)[:, None]).astype(int)
    return {
        "y": y,
        "known": posteriors(y),
        "samples": np.stack([posteriors(row) for row in labels]),
        "p_true": labels.mean(axis=1),
    }


def theirs(method: Any, problem: dict[str, np.ndarray], *, crisp: bool = False) -> np.ndarray:
    """QuaPy's estimates of the positive class, its aggregation fitted on the same posteriors."""
    method.aggregation_fit(
        problem["known"].argmax(axis=1) if crisp else problem["known"], problem["y"]
    )
    samples = problem["samples"].argmax(axis=-1) if crisp else problem["samples"]
    return np.array([method.aggregate(sample)[1] for sample in samples])


def ours(method: Any, problem: dict[str, np.ndarray]) -> np.ndarray:
    fitted = method.fit_posteriors(problem["known"], problem["y"])
    return np.asarray(fitted.aggregate(problem["samples"])[:, 1])


@pytest.fixture(scope="module")
def classifier() -> LogisticRegression:
    """QuaPy asks a fitted classifier for its classes; it is never used to classify."""
    return LogisticRegression().fit([[0.0], [1.0]], [0, 1])


def test_counting(problem: dict[str, np.ndarray], classifier: LogisticRegression) -> None:
    cc, pcc = quapy.CC(classifier, False), quapy.PCC(classifier, False)
    assert_allclose(ours(CC(), problem), theirs(cc, problem, crisp=True), atol=1e-12)
    assert_allclose(ours(PCC(), problem), theirs(pcc, problem), atol=1e-12)


@pytest.mark.parametrize(
    ("method", "reference", "crisp"), [(ACC, "ACC", True), (PACC, "PACC", False)]
)
def test_adjusted(
    method: type,
    reference: str,
    crisp: bool,
    problem: dict[str, np.ndarray],
    classifier: LogisticRegression,
) -> None:
    """Equal to QuaPy's exact solver, clipped; its default is SLSQP, which stops within 1e-5."""
    cls = getattr(quapy, reference)
    exact = cls(classifier, False, val_split=None, solver="exact-cc", norm="clip")
    assert_allclose(ours(method(), problem), theirs(exact, problem, crisp=crisp), atol=1e-6)
    default = cls(classifier, False, val_split=None)
    assert_allclose(ours(method(), problem), theirs(default, problem, crisp=crisp), atol=2e-5)


def test_sample_mean_matching(
    problem: dict[str, np.ndarray], classifier: LogisticRegression
) -> None:
    reference = theirs(quapy.SMM(classifier, False, val_split=None), problem)
    assert_allclose(ours(SMM(), problem), reference, atol=1e-12)


@pytest.mark.parametrize(("name", "divergence"), [("topsoe", "topsoe"), ("hellinger", "HD")])
def test_dys(
    name: str, divergence: str, problem: dict[str, np.ndarray], classifier: LogisticRegression
) -> None:
    """QuaPy's ternary search ends within 1e-5, ours within 1e-6."""
    reference = quapy.DyS(classifier, False, val_split=None, n_bins=10, divergence=divergence)
    assert_allclose(ours(DyS(divergence=name), problem), theirs(reference, problem), atol=1.2e-5)


def test_dys_of_many_classes() -> None:
    """QuaPy's DMy has the same objective; its SLSQP stops up to 3e-3 away, never below ours."""
    rng = np.random.default_rng(1)

    def posteriors(y: np.ndarray) -> np.ndarray:
        distance = rng.normal(1.5 * y)[:, np.newaxis] - 1.5 * np.arange(4)
        density = np.exp(-(distance**2) / 2)
        return np.asarray(density / density.sum(axis=1, keepdims=True))

    y = rng.permutation(np.repeat(np.arange(4), 200))
    known = posteriors(y)
    labels = [rng.choice(4, 150, p=p) for p in rng.dirichlet(np.full(4, 0.6), 20)]
    samples = np.stack([posteriors(own) for own in labels])
    reference = quapy.DMy(
        LogisticRegression().fit(np.eye(4), np.arange(4)),
        False,
        val_split=None,
        nbins=10,
        divergence="topsoe",
    )
    reference.aggregation_fit(known, y)
    estimate = DyS().fit_posteriors(known, y).estimate_posteriors(samples)
    classes = np.array(reference.validation_distribution)
    for sample, p, distance in zip(
        samples, estimate.prevalence, estimate.diagnostics["distance"], strict=True
    ):
        histograms = reference._get_distributions(sample)
        theirs = reference.aggregate(sample)
        assert_allclose(p, theirs, atol=3e-3)
        best = topsoe(np.tensordot(theirs, classes, axes=1), histograms).mean()
        assert distance <= best + 1e-9
        assert distance == pytest.approx(
            topsoe(np.tensordot(p, classes, axes=1), histograms).mean()
        )


def test_hdy(problem: dict[str, np.ndarray], classifier: LogisticRegression) -> None:
    """QuaPy tries 101 prevalences and takes the median: within half a step of our exact minimum,
    except that the median of rounded estimates may be another one, a further half step away."""
    reference = theirs(quapy.HDy(classifier, False, val_split=None), problem)
    assert_allclose(ours(HDy(), problem), reference, atol=0.01)
    assert np.abs(ours(HDy(), problem) - reference).mean() < 0.004


def test_sld(problem: dict[str, np.ndarray], classifier: LogisticRegression) -> None:
    """Equal to 1e-6 where QuaPy's EM has run to its end.

    By default QuaPy stops at the first step below 1e-4, up to 3e-3 short of the fixed point on
    this problem (prevalences near 0 and 1, where EM is slow); hence the tight epsilon here.
    """
    reference = quapy.EMQ(classifier, False)
    reference.train_prevalence = np.array([0.6, 0.4])
    mine = ours(SLD(calibration="none"), problem)
    em = np.array(
        [
            reference.EM(np.array([0.6, 0.4]), s, epsilon=1e-10)[0][1]
            for s in problem["samples"][5:-5]
        ]
    )
    assert_allclose(mine[5:-5], em, atol=1e-6)
    early = theirs(reference, problem)
    assert_allclose(mine, early, atol=5e-3)


def test_sld_multiclass(classifier: LogisticRegression) -> None:
    rng = np.random.default_rng(3)
    y = np.arange(300) % 3
    known = rng.dirichlet([1, 1, 1], 300) + np.eye(3)[y]
    known /= known.sum(axis=1, keepdims=True)
    sample = known[y != 2][:120]
    fitted = SLD(calibration="none").fit_posteriors(known, y)
    reference, _ = quapy.EMQ.EM(np.full(3, 1 / 3), sample, epsilon=1e-9)
    assert_allclose(fitted.aggregate(sample), reference, atol=1e-6)


def test_sld_of_five_overlapping_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within 1e-5 of QuaPy's EM run to steps of 1e-10, and never the less likely of the two."""
    monkeypatch.setattr(quapy.EMQ, "MAX_ITER", 100_000)
    rng = np.random.default_rng(6)
    y = rng.integers(5, size=4000)
    scores = np.exp(rng.normal(size=(4000, 5)) + np.eye(5)[y])
    known = scores / scores.sum(axis=1, keepdims=True)
    fitted = SLD(calibration="none").fit_posteriors(known, y)
    prior = np.bincount(y) / 4000
    for p in rng.dirichlet(np.ones(5), 10):
        sample = known[rng.choice(4000, 500, p=(p / prior)[y] / (p / prior)[y].sum())]
        reference, _ = quapy.EMQ.EM(prior, sample, epsilon=1e-10)
        mine = fitted.aggregate(sample)
        assert_allclose(mine, reference, atol=1e-5)
        likelihoods = [np.log((sample / prior) @ p_hat).sum() for p_hat in (mine, reference)]
        assert likelihoods[0] >= likelihoods[1] - 1e-10


def test_adjusted_multiclass() -> None:
    """Least squares on the simplex against QuaPy's SLSQP on the same rates.

    SLSQP minimises the norm, which has a kink at an exact solution, and stops up to 1e-3 away; ours
    is exact, so its residual is never the larger one.
    """
    rng = np.random.default_rng(4)
    y = np.arange(300) % 3
    known = rng.dirichlet([1, 1, 1], 300) + np.eye(3)[y]
    known /= known.sum(axis=1, keepdims=True)
    pacc = PACC().fit_posteriors(known, y)
    for counts in rng.dirichlet([0.5, 0.5, 0.5], 20):
        reference = quapy.ACC.solve_adjustment(pacc.rates_, counts, "inversion", "minimize")
        exact = pacc.aggregate(np.tile(counts, (3, 1)))
        assert_allclose(exact, reference, atol=1e-3)
        residuals = [np.linalg.norm(pacc.rates_ @ p - counts) for p in (exact, reference)]
        assert residuals[0] <= residuals[1] + 1e-12


@pytest.mark.parametrize("name", [m.name for m in metrics.MEASURES.values() if not m.ordinal])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_error_measures(name: str, n_classes: int) -> None:
    rng = np.random.default_rng(5)
    p_true, p_hat = rng.dirichlet(np.ones(n_classes), (2, 50))
    p_true[0], p_hat[1] = np.eye(n_classes)[0], np.eye(n_classes)[1]
    mine = metrics.measure(name, p_true, p_hat, smoothing=1 / 1000)
    reference = getattr(qp.error, name)
    expected = (
        reference(p_true, p_hat)
        if not metrics.MEASURES[name].smoothed
        else reference(p_true, p_hat, eps=1 / 1000)
    )
    assert_allclose(mine, expected, rtol=1e-9)


def test_match_distance_of_ordered_classes() -> None:
    p_true, p_hat = np.random.default_rng(6).dirichlet(np.ones(5), (2, 50))
    expected = [qp.error.nmd(p, q) for p, q in zip(p_true, p_hat, strict=True)]
    assert_allclose(metrics.nmd(p_true, p_hat), expected, rtol=1e-9)


@pytest.mark.parametrize("n_features", [1, 4])
def test_matching_of_features(n_features: int) -> None:
    """QuaPy's HDx goes through 101 prevalences, and leaves out items beyond the training range.

    So estimates agree to its grid where no item is outside. Items outside are in our outermost bins
    (as in qunfold and quantificationlib): then QuaPy's estimate is that of the other items.
    """
    rng = np.random.default_rng(0)

    def drawn(n: int, share: float) -> tuple[np.ndarray, np.ndarray]:
        y = (np.arange(n) < round(share * n)).astype(int)
        return rng.normal(size=(n, n_features)) + np.outer(y, np.linspace(2, 0.5, n_features)), y

    X, y = drawn(800, 0.5)
    ours, reference = HDx().fit(X, y), DMx.HDx().fit(X, y)
    for share in np.linspace(0, 1, 6):
        sample, _ = drawn(400, share)
        inside = ((X.min(axis=0) <= sample) & (sample <= X.max(axis=0))).all(axis=1)
        kept = sample[inside]
        assert ours.predict(kept)[1] == pytest.approx(reference.predict(kept)[1], abs=0.0101)
        assert ours.predict(sample)[1] == pytest.approx(reference.predict(sample)[1], abs=0.03)


def test_matching_of_features_of_three_classes() -> None:
    """QuaPy minimises the mean distance with SLSQP from a random start, we the sum of squares."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 400)
    X = rng.normal(size=(1200, 3)) + 2 * np.eye(3)[y]
    sample = rng.normal(size=(600, 3)) + 2 * np.eye(3)[np.repeat([0, 1, 2], [300, 200, 100])]
    sample = np.clip(sample, X.min(axis=0), X.max(axis=0))
    theirs = np.median([DMx(nbins=b).fit(X, y).predict(sample) for b in HDY_BINS], axis=0)
    assert_allclose(HDx().fit(X, y).predict(sample), theirs, atol=0.02)
