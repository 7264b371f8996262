"""Labels of random items: strata of verdicts, the audit, and what contradicts randomness."""

import numpy as np
import pytest

from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.items.judged_items import Settings
from quantshift.labelling.audit import audit_interval
from tests.judging.made import coded

OF_POPULATION = Settings(insist=True, of="population")


def test_labels_are_post_stratified_by_verdict(judging):
    labels, v = judging.random(150), judging.verdicts
    judged = estimate(coded(v, labels), "random", OF_POPULATION)
    found = judged.shares
    rates = [labels[(v == c) & (labels >= 0)].mean() for c in (0, 1)]
    assert found.prevalence[1] == pytest.approx(np.bincount(v) / len(v) @ rates)
    assert judged.n_labelled == 150
    # With a verdict of two values the regression of the audit is the same estimate, and many labels
    # have the same limits.
    rows = np.flatnonzero(labels >= 0)
    audit = audit_interval(np.eye(2)[v], rows, labels[rows])
    assert found.prevalence == pytest.approx(audit.prevalence)
    assert found.low == pytest.approx(audit.low, abs=0.003)
    assert found.high == pytest.approx(audit.high, abs=0.003)


def test_labels_with_a_score_or_few_for_many_verdicts_are_an_audit(judging):
    labels = judging.random(150)
    rows = np.flatnonzero(labels >= 0)
    score = np.where(judging.verdicts == 1, 0.8, 0.3)
    found = estimate(coded(None, labels, score=score), "random", OF_POPULATION).shares
    audit = audit_interval(np.column_stack([1 - score, score]), rows, labels[rows])
    assert found.low == pytest.approx(audit.low)
    few = np.where(np.isin(np.arange(len(labels)), rows[:19]), labels, -1)
    found = estimate(coded(judging.verdicts, few), "random", OF_POPULATION).shares
    audit = audit_interval(np.eye(2)[judging.verdicts], rows[:19], labels[rows[:19]])
    assert found.high == pytest.approx(audit.high)


def test_these_items_have_the_finite_population_correction(judging):
    labels, n = judging.random(1500), len(judging.y)
    items, population = (
        estimate(coded(judging.verdicts, labels), "random", settings).shares
        for settings in (Settings(), OF_POPULATION)
    )
    # The verdicts of all items are known: what is left is the variance within them, of a quarter.
    rates = [labels[(judging.verdicts == c) & (labels >= 0)].mean() for c in (0, 1)]
    sizes = np.bincount(judging.verdicts)
    variance = sum(
        (size / n) ** 2 * r * (1 - r) * (1 / (0.75 * size) - 1 / size)
        for size, r in zip(sizes, rates, strict=True)
    )
    assert items.high[1] - items.low[1] == pytest.approx(2 * 1.96 * np.sqrt(variance), rel=0.05)
    assert items.high[1] - items.low[1] < 0.5 * (population.high[1] - population.low[1])


def test_of_items_that_are_all_labelled_nothing_is_unknown(judging):
    found = estimate(coded(judging.verdicts, judging.y), "random").shares
    assert found.low == pytest.approx(found.high)
    assert found.prevalence[1] == pytest.approx(judging.y.mean())
    score = np.where(judging.verdicts == 1, 0.8, 0.3)
    found = estimate(coded(None, judging.y, score=score), "random").shares
    assert found.low == pytest.approx(found.high)


def test_beside_ppi_python(judging):
    ppi = pytest.importorskip("ppi_py", reason="ppi-python is not installed")
    labels = judging.random(300)
    known = labels >= 0
    Y, f, rest = (
        x.astype(float) for x in (labels[known], judging.verdicts[known], judging.verdicts[~known])
    )
    low, high = (float(np.squeeze(x)) for x in ppi.ppi_mean_ci(Y, f, rest, alpha=0.05))
    found = estimate(coded(judging.verdicts, labels), "random", OF_POPULATION).shares
    assert found.prevalence[1] == pytest.approx((low + high) / 2, abs=0.005)
    assert found.high[1] - found.low[1] == pytest.approx(high - low, rel=0.08)


def test_kappa_is_cohens(judging):
    sklearn = pytest.importorskip("sklearn.metrics")
    labels = judging.random(300)
    known = labels >= 0
    (found,) = estimate(coded(judging.verdicts, labels), "random").judges
    expected = sklearn.cohen_kappa_score(judging.verdicts[known], labels[known])
    assert found.kappa == pytest.approx(expected)
    v = np.where(judging.rng.random(2000) < 0.2, 2, judging.verdicts)
    items = coded(v, labels, 3, ordered=True)
    (found,) = estimate(items, "random", Settings(insist=True)).judges
    v = v[known]
    expected = sklearn.cohen_kappa_score(v, labels[known], weights="quadratic", labels=[0, 1, 2])
    assert found.kappa == pytest.approx(expected)
