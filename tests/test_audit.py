"""The audit: closed forms, coverage whatever the posteriors are worth, plans."""

import numpy as np
import pytest
from scipy import stats

from quantshift.audit import (
    FEWEST_LABELS,
    audit_interval,
    count_interval,
    plan_audit,
    reweigh,
)
from quantshift.errors import DataError, PoolTooSmallError, UserError

Z = 1.959963984540054


def world(p, separation, bias, shape, seed):
    """Labels (n_samples, n_items) and posteriors of a classifier, right or biased."""
    rng = np.random.default_rng(seed)
    y = (rng.random(shape) < p).astype(np.int64)
    score = rng.normal(size=shape) + separation * (y - 0.5) + bias
    positive = 1 / (1 + np.exp(-separation * score))
    return y, np.stack([1 - positive, positive], axis=-1)


def textbook(f, y, k):
    """PPI++ for a mean with its plain normal interval, as ppi-python computes it."""
    own, rest, labels = f[:k, 1], f[k:, 1], y[:k].astype(float)
    n, N = k, len(rest)
    weight = np.cov(labels, own)[0, 1] / ((1 + n / N) * f[:, 1].var(ddof=1))
    weight = float(np.clip(weight, 0, 1))
    estimate = weight * rest.mean() + (labels - weight * own).mean()
    variance = weight**2 * rest.var() / N + (labels - weight * own).var() / n
    return estimate, Z * np.sqrt(variance)


def test_it_is_prediction_powered_inference_in_another_form():
    y, f = world(0.4, 2.0, 0.5, 20_000, 0)
    found = audit_interval(f, np.arange(5000), y[:5000])
    estimate, half = textbook(f, y, 5000)
    assert found.prevalence[1] == pytest.approx(estimate, abs=1e-3)
    assert (found.high[1] - found.low[1]) / 2 == pytest.approx(half, rel=0.02)


def test_the_textbook_interval_is_too_short_for_few_labels():
    """Why the limits are not estimate +- 1.96 standard errors."""
    p, k, covered = 0.03, 50, {"textbook": [], "ours": []}
    labels, posteriors = world(p, 2.0, 0.0, (600, 500), 1)
    for y, f in zip(labels, posteriors, strict=True):
        estimate, half = textbook(f, y, k)
        covered["textbook"].append(abs(estimate - p) <= half)
        found = audit_interval(f, np.arange(k), y[:k])
        covered["ours"].append(found.low[1] <= p <= found.high[1])
    assert np.mean(covered["textbook"]) < 0.9
    assert 0.93 <= np.mean(covered["ours"]) <= 0.99


@pytest.mark.parametrize(
    ("p", "separation", "bias"),
    [(0.5, 2.0, 0.0), (0.3, 2.0, 2.0), (0.1, 0.5, 0.0), (0.5, 4.0, 1.5), (0.7, -2.0, 0.0)],
    ids=["good", "biased", "useless", "sure but wrong", "inverted"],
)
@pytest.mark.parametrize("k", [50, 200])
def test_it_covers_whatever_the_posteriors_are_worth(p, separation, bias, k):
    labels, posteriors = world(p, separation, bias, (500, 500), 2)
    found = [
        audit_interval(f, np.arange(k), y[:k]) for y, f in zip(labels, posteriors, strict=True)
    ]
    assert 0.925 <= np.mean([a.low[1] <= p <= a.high[1] for a in found]) <= 0.985


@pytest.mark.parametrize("k", [50, 200])
def test_about_the_sample_itself_it_is_shorter_and_covers(k):
    labels, posteriors = world(0.4, 2.0, 0.5, (500, 400), 3)
    covered, widths = [], []
    for y, f in zip(labels, posteriors, strict=True):
        own = audit_interval(f, np.arange(k), y[:k], target="sample")
        source = audit_interval(f, np.arange(k), y[:k])
        covered.append(own.low[1] <= y.mean() <= own.high[1])
        widths.append((own.high[1] - own.low[1]) / (source.high[1] - source.low[1]))
    assert 0.925 <= np.mean(covered) <= 0.985
    assert np.mean(widths) < 0.95


def test_with_all_items_labelled_the_sample_is_known():
    y, f = world(0.4, 1.0, 0.0, 60, 4)
    found = audit_interval(f, np.arange(60), y, target="sample")
    assert found.prevalence[1] == found.low[1] == found.high[1] == pytest.approx(y.mean())


def test_useful_posteriors_shorten_it_and_useless_ones_do_not_hurt():
    y, good = world(0.4, 3.0, 0.0, 1000, 5)
    useless = np.random.default_rng(0).dirichlet([1, 1], 1000)
    counted = count_interval(y[:100], 2)
    width = counted.high[1] - counted.low[1]
    powered = audit_interval(good, np.arange(100), y[:100])
    assert powered.high[1] - powered.low[1] < 0.7 * width
    assert powered.weight > 0.7
    blind = audit_interval(useless, np.arange(100), y[:100])
    assert blind.high[1] - blind.low[1] < 1.06 * width


def test_constant_posteriors_are_plain_counting():
    y = np.tile([0, 1, 1], 20)
    found = audit_interval(np.full((500, 2), 0.5), np.arange(60), y)
    assert found.weight == 0
    assert found.prevalence[1] == pytest.approx(2 / 3)


def test_several_classes_sum_to_one():
    rng = np.random.default_rng(0)
    y = rng.choice(3, size=400, p=[0.2, 0.3, 0.5])
    f = 0.5 * np.eye(3)[y] + 0.5 * rng.dirichlet(np.ones(3), 400)
    found = audit_interval(f, np.arange(80), y[:80])
    assert found.prevalence.sum() == pytest.approx(1)
    assert np.all((found.low < found.prevalence) & (found.prevalence < found.high))


def test_labels_all_alike_still_leave_doubt():
    found = audit_interval(np.full((300, 2), 0.5), np.arange(50), np.ones(50, int))
    assert found.prevalence.tolist() == [0, 1]
    assert 0.02 < found.high[0] < 0.15
    assert found.low[0] == 0


def test_counting_has_wilson_s_limits():
    found = count_interval(np.repeat([0, 1], [70, 30]), 2)
    reference = stats.binomtest(30, 100).proportion_ci(0.95, method="wilson")
    assert (found.low[1], found.high[1]) == pytest.approx((reference.low, reference.high))


def test_the_plan_gives_the_precision_it_promises():
    y, f = world(0.4, 2.0, 0.0, 4000, 6)
    plan = plan_audit(f, 0.04)
    assert plan.n_labels < plan.n_counting
    assert len(plan.items) == plan.n_labels == len(np.unique(plan.items))
    found = audit_interval(f, plan.items, y[plan.items])
    assert (found.high[1] - found.low[1]) / 2 == pytest.approx(0.04, rel=0.12)
    assert plan_audit(f, 0.02).n_labels > 3 * plan.n_labels


def test_a_plan_says_what_cannot_be_had():
    _, f = world(0.5, 2.0, 0.0, 100, 7)
    plan = plan_audit(f, 0.01)
    assert plan.n_labels == 100
    assert plan.attainable == pytest.approx(Z * 0.05, rel=0.05)
    assert plan_audit(f, 0.5).n_labels == FEWEST_LABELS
    assert plan_audit(f, 0.01, target="sample").n_labels < 100


def test_reweighing_is_bayes_rule():
    f = reweigh([[0.5, 0.5], [0.2, 0.8], [1.0, 0.0]], [0.5, 0.5], [0.1, 0.9])
    np.testing.assert_allclose(f, [[0.1, 0.9], [0.02 / 0.74, 0.72 / 0.74], [1, 0]])
    kept = reweigh([[1.0, 0.0]], [0.5, 0.5], [0.0, 1.0])
    np.testing.assert_allclose(kept, [[1, 0]])


def test_wrong_input_is_one_line():
    f = np.full((50, 2), 0.5)
    with pytest.raises(PoolTooSmallError, match="5 items of the sample are labelled"):
        audit_interval(f, np.arange(5), np.zeros(5, int))
    with pytest.raises(DataError, match="distinct positions from 0 to 49"):
        audit_interval(f, np.zeros(20, int), np.zeros(20, int))
    with pytest.raises(DataError, match="codes of labels must be from 0 to 1"):
        audit_interval(f, np.arange(20), np.full(20, 2))
    with pytest.raises(DataError, match="a label per audited item"):
        audit_interval(f, np.arange(20), np.zeros(19, int))
    with pytest.raises(UserError, match="did you mean 'sample'"):
        audit_interval(f, np.arange(20), np.zeros(20, int), target="samples")
    with pytest.raises(UserError, match="level of an interval"):
        audit_interval(f, np.arange(20), np.zeros(20, int), level=2)
    with pytest.raises(UserError, match="a precision is between 0 and 1"):
        plan_audit(f, 3)
