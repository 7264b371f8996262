"""The weights of the package: whole, small, and refused if they are damaged."""

from importlib.resources import files

import numpy as np
import pytest

from quantshift.errors import DataError
from quantshift.quantifiers.pretrained import trained


def test_the_weights_are_small_and_finite():
    file = files("quantshift.quantifiers.pretrained").joinpath(trained.FILE)
    assert len(file.read_bytes()) <= 4_000_000
    assert all(np.isfinite(array).all() for array in trained.network_weights().values())


def test_damaged_weights_are_refused():
    content = bytearray(
        files("quantshift.quantifiers.pretrained").joinpath(trained.FILE).read_bytes()
    )
    assert trained.shipped_weights(bytes(content))
    content[len(content) // 2] ^= 1
    with pytest.raises(DataError, match="damaged"):
        trained.shipped_weights(bytes(content))


def test_a_file_of_ones_own_is_read_again_when_it_changes(tmp_path):
    file = tmp_path / "mine.npz"
    weights = trained.network_weights()
    np.savez(file, **weights)
    assert np.array_equal(trained.network_weights(str(file))["centre"], weights["centre"])
    np.savez(file, **{**weights, "centre": weights["centre"] + 1})
    assert np.array_equal(trained.network_weights(str(file))["centre"], weights["centre"] + 1)


@pytest.mark.parametrize(
    "changed",
    [
        {"centre": np.zeros(3)},
        {"head.out.bias": np.full(74, np.nan)},
        {"layer1.norm1.bias": np.zeros(7)},
        {"head.out.weight": np.array(["x"])},
        {"overall.in.weight": None},
    ],
)
def test_a_file_that_holds_no_network_is_refused(tmp_path, changed):
    weights = {**trained.network_weights(), **changed}
    file = tmp_path / "mine.npz"
    np.savez(file, **{name: array for name, array in weights.items() if array is not None})
    with pytest.raises(DataError, match=r"mine\.npz: not the weights of a network"):
        trained.network_weights(str(file))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"\x93NUMPY", b"a,b\n1,2\n"])
def test_a_file_that_is_no_archive_is_refused(tmp_path, content):
    file = tmp_path / "mine.npz"
    file.write_bytes(content)
    with pytest.raises(DataError, match="not the weights of a network"):
        trained.network_weights(str(file))
    with pytest.raises(DataError, match="cannot be read"):
        trained.network_weights(str(tmp_path / "absent.npz"))
