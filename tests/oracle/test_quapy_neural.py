"""QuaPy's networks, wrapped: they train, and batches of samples and labels of any kind work."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("torch", reason="PyTorch is not installed: quantshift[neural]")

from quapy.method import meta

from quantshift import wrap

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["HistNetQ", "GMNet"])
def test_networks_can_be_wrapped(name, tmp_path):
    network = getattr(meta, name)
    if not isinstance(network, type):
        pytest.skip(f"{network}")
    rng = np.random.default_rng(0)
    codes = np.arange(300) % 3
    X = 3 * np.eye(3)[codes] + rng.normal(size=(300, 3))
    y = np.array(["a", "b", "c"])[codes]
    quantifier = wrap(
        network,
        bag_size=50,
        n_bags_train=64,
        n_bags_val=16,
        train_epochs=12,
        start_lr=0.02,
        checkpointdir=str(tmp_path),
    ).fit(X, y)
    rows = [np.flatnonzero(codes == k) for k in range(3)]
    found = quantifier.predict(X, rows)
    assert_allclose(found.sum(axis=1), 1, atol=1e-5)
    assert (found.argmax(axis=1) == [0, 1, 2]).all()
