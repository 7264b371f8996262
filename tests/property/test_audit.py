"""The audit for any posteriors and any labels: within [0, 1] and never wider than counting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from quantshift.labelling.audit import audit_interval, count_interval, plan_audit


@st.composite
def audits(draw):
    """Posteriors of all items and labels of the first k, of any relation to each other."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_classes = draw(st.integers(2, 4))
    n_items = draw(st.integers(10, 300))
    k = draw(st.integers(10, n_items))
    y = rng.choice(n_classes, size=n_items, p=rng.dirichlet(np.full(n_classes, 0.3)))
    shape = 10.0 ** draw(st.integers(-3, 3))
    noise = rng.dirichlet(np.full(n_classes, shape), n_items)
    share = draw(st.sampled_from([0.0, 0.3, 0.9, 1.0]))
    f = share * np.eye(n_classes)[y] + (1 - share) * noise
    if draw(st.booleans()):
        f = np.eye(n_classes)[f.argmax(axis=1)]
    if draw(st.booleans()):
        f = f[:, ::-1]
    return f, y[:k], draw(st.sampled_from(["population", "sample"]))


@given(audits(), st.sampled_from([0.5, 0.8, 0.95, 0.999]))
@settings(max_examples=150, deadline=None)
def test_never_wider_than_the_exact_interval_of_the_labels(audit, level):
    f, labels, target = audit
    k, n_classes = len(labels), f.shape[1]
    found = audit_interval(f, np.arange(k), labels, level=level, target=target)
    counted = count_interval(labels, n_classes, level=level)
    for code in range(n_classes):
        exact = stats.binomtest(int((labels == code).sum()), k).proportion_ci(level)
        width = found.high[code] - found.low[code]
        assert width <= counted.high[code] - counted.low[code] + 1e-9
        assert width <= exact.high - exact.low + 1e-9
    assert np.all((found.low >= 0) & (found.high <= 1) & (found.low <= found.high))
    assert found.prevalence.sum() == pytest.approx(1)
    assert 0 <= found.weight <= 1


@given(audits())
@settings(max_examples=60, deadline=None)
def test_the_order_of_the_two_classes_does_not_matter(audit):
    f, labels, target = audit
    if f.shape[1] != 2:
        return
    found = audit_interval(f, np.arange(len(labels)), labels, target=target)
    other = audit_interval(f[:, ::-1], np.arange(len(labels)), 1 - labels, target=target)
    np.testing.assert_allclose(found.low, other.low[::-1], atol=1e-9)
    np.testing.assert_allclose(found.low, 1 - found.high[::-1], atol=1e-9)


@given(audits(), st.floats(0.005, 0.5))
@settings(max_examples=60, deadline=None)
def test_a_plan_is_between_the_fewest_labels_and_counting(audit, precision):
    f, labels, target = audit
    held_out = None
    if len(np.unique(labels)) == f.shape[1]:
        held_out = (f[: len(labels)], labels)
    plan = plan_audit(f, precision, held_out=held_out, target=target)
    assert 10 <= plan.n_labels <= plan.n_counting <= len(f)
    assert len(np.unique(plan.items)) == plan.n_labels
    more = plan_audit(f, precision / 2, held_out=held_out, target=target)
    assert more.n_labels >= plan.n_labels
