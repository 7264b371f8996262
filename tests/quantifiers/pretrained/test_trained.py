"""The weights of the package: whole, small, and refused if they are damaged."""

from importlib.resources import files

import numpy as np
import pytest

from quantshift.errors import DataError
from quantshift.quantifiers.pretrained import trained


@pytest.fixture(autouse=True)
def anew():
    trained.network_weights.cache_clear()
    yield
    trained.network_weights.cache_clear()


def test_the_weights_are_small_and_finite():
    file = files("quantshift.quantifiers.pretrained").joinpath(trained.FILE)
    assert len(file.read_bytes()) <= 4_000_000
    assert all(np.isfinite(array).all() for array in trained.network_weights().values())


def test_damaged_weights_are_refused(monkeypatch):
    monkeypatch.setattr(trained, "CHECKSUM", "0" * 64)
    with pytest.raises(DataError, match="damaged"):
        trained.network_weights()
