"""Beside ppi-python: the same estimate; its interval is ours but for the care for few labels."""

import numpy as np
import pytest

from quantshift.labelling.audit import audit_interval

ppi = pytest.importorskip("ppi_py", reason="ppi-python is not installed")


@pytest.mark.parametrize("k", [200, 1000])
def test_the_same_estimate_and_interval_for_many_labels(k):
    rng = np.random.default_rng(0)
    y = (rng.random(5000) < 0.4).astype(int)
    score = rng.normal(size=5000) + 2 * (y - 0.5)
    f = 1 / (1 + np.exp(-2 * score))
    found = audit_interval(np.column_stack([1 - f, f]), np.arange(k), y[:k])
    low, high = ppi.ppi_mean_ci(y[:k].astype(float), f[:k], f[k:], alpha=0.05)
    estimate = ppi.ppi_mean_pointestimate(y[:k].astype(float), f[:k], f[k:])
    assert found.prevalence[1] == pytest.approx(float(estimate[0]), abs=2e-3)
    assert found.high[1] - found.low[1] == pytest.approx(float((high - low)[0]), rel=0.04)
