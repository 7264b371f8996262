"""Methods of thresholds, weights and histograms beside QuaPy 0.2.3, from the same posteriors."""

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from quantshift.quantifiers import LEIP, MAX, MS, MS2, T50, BBSEHard, BBSESoft, DMx, DMy, MethodX

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from quapy.method import _liep, non_aggregative
    from quapy.method import _threshold_optim as thresholds
    from quapy.method import aggregative as quapy


def problem(n_classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Posteriors of labelled items, their labels, 12 samples at prevalences from everywhere."""
    rng = np.random.default_rng(n_classes)

    def posteriors(y: np.ndarray) -> np.ndarray:
        p = np.exp(1.2 * rng.normal(size=(len(y), n_classes)) + 1.8 * np.eye(n_classes)[y])
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    # Two classes of 311 and 289 items have no two thresholds with the same tpr - fpr.
    y = rng.permutation(np.arange(600) % n_classes if n_classes > 2 else np.arange(600) // 311)
    prevalences = rng.dirichlet(np.ones(n_classes), 12)
    samples = np.stack([posteriors(rng.choice(n_classes, 150, p=p)) for p in prevalences])
    return posteriors(y), y, samples


def classifier(n_classes: int) -> LogisticRegression:
    """QuaPy asks a fitted classifier for its classes; it is never used to classify."""
    return LogisticRegression().fit(np.eye(n_classes), np.arange(n_classes))


@pytest.mark.parametrize(
    ("method", "name"), [(T50, "T50"), (MAX, "MAX"), (MethodX, "X"), (MS, "MS"), (MS2, "MS2")]
)
def test_thresholds(method: type, name: str) -> None:
    """The same formula on the same thresholds: equal to rounding, but for ties (there are none)."""
    known, y, samples = problem(2)
    reference: Any = getattr(thresholds, name)(classifier(2), False, None)
    reference.aggregation_fit(known[:, 1], y)
    ours = method().fit_posteriors(known, y).aggregate(samples)
    theirs = [reference.aggregate(sample[:, 1]) for sample in samples]
    assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(("method", "name"), [(BBSEHard, "BBSEhard"), (BBSESoft, "BBSEsoft")])
def test_black_box_shift_estimation(method: type, name: str, n_classes: int) -> None:
    """QuaPy's SLSQP stops within 1e-4 where it is inside, 3e-4 where a weight is zero."""
    known, y, samples = problem(n_classes)
    reference: Any = getattr(quapy, name)(classifier(n_classes), False, None)
    hard = method is BBSEHard
    reference.aggregation_fit(known.argmax(axis=1) if hard else known, y)
    ours = method().fit_posteriors(known, y).aggregate(samples)
    theirs = [reference.aggregate(s.argmax(axis=1) if hard else s) for s in samples]
    assert_allclose(ours, theirs, atol=1e-4 if n_classes == 2 else 3e-4)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("cdf", [False, True])
@pytest.mark.parametrize(("name", "theirs"), [("hellinger", "HD"), ("topsoe", "topsoe")])
def test_distribution_matching(n_classes: int, cdf: bool, name: str, theirs: str) -> None:
    """QuaPy's SLSQP ends up to 3e-3 away; its objective, as computed here, is never below ours."""
    known, y, samples = problem(n_classes)
    reference = quapy.DMy(classifier(n_classes), False, None, nbins=8, divergence=theirs, cdf=cdf)
    # Of two classes QuaPy matches the first one's posteriors and we the second one's.
    order = [1, 0] if n_classes == 2 else np.arange(n_classes)
    reference.aggregation_fit(known[:, order], np.argsort(order)[y])
    ours = DMy(divergence=name, cdf=cdf).fit_posteriors(known, y).aggregate(samples)[:, order]
    classes = np.asarray(reference.validation_distribution)
    for sample, p in zip(samples, ours, strict=True):
        q = reference.aggregate(sample[:, order])
        assert_allclose(p, q, atol=3e-3)
        new = reference._get_distributions(sample[:, order])
        values = []
        for each in (p, q):
            mixture = np.tensordot(each, classes, axes=1)
            if name == "hellinger":
                values.append(np.linalg.norm(np.sqrt(mixture) - np.sqrt(new), axis=1).mean())
            else:
                parts = [
                    x * np.log((2 * x + 1e-20) / (mixture + new + 1e-20)) for x in (mixture, new)
                ]
                values.append(sum(parts).sum(axis=1).mean())
        assert values[0] <= values[1] + 1e-6


def test_features() -> None:
    """Where no value is outside the training range, which QuaPy leaves out; 3e-3 for SLSQP."""
    rng = np.random.default_rng(0)
    for n_classes in (2, 3):
        y = np.arange(900) % n_classes
        X = rng.normal(size=(900, 3)) + 2 * np.eye(n_classes, 3)[y]
        new = np.repeat(np.arange(n_classes), 100 * np.arange(1, n_classes + 1))
        sample = rng.normal(size=(len(new), 3)) + 2 * np.eye(n_classes, 3)[new]
        sample = np.clip(sample, X.min(axis=0), X.max(axis=0))
        theirs = non_aggregative.DMx().fit(X, y).predict(sample)
        assert_allclose(DMx().fit(X, y).predict(sample), theirs, atol=3e-3)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 4])
def test_incremental_prior(n_classes: int) -> None:
    """Equal where both count the same surest items.

    QuaPy interpolates the quantile of the confidence, so that it may take one item more or less; it
    is given our threshold here.
    """
    known, y, samples = problem(n_classes)
    fitted = LEIP().fit_posteriors(known, y)
    estimate = fitted.estimate_posteriors(samples)
    for i, sample in enumerate(samples):
        n_sure = round(float(estimate.diagnostics["counted"][i]) * len(sample))
        tau = np.sort(sample.max(axis=1))[-n_sure]
        reference = _liep.LEIP(classifier(n_classes), False, None, tau=tau)
        reference.train_prevalence = fitted.prior_
        assert_allclose(estimate.prevalence[i], reference.aggregate(sample), atol=1e-12)
