"""The weights of the network, as shipped: read once, and refused if they are damaged."""

import hashlib
import io
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from quantshift.base.types import Reals
from quantshift.errors import DataError

FILE = "weights.npz"
VERSION = 1
"""Raised with every new training; see docs/quantifiers/pretrained.md."""

CHECKSUM = "9487b4a713ee09f88004122250d5528cf07af30c80aff1b97dc55b25d9034860"


@cache
def network_weights(file: str | None = None) -> dict[str, Reals]:
    """The arrays of the network by name; `file` is one that training has written."""
    if file is None:
        content = files(__package__).joinpath(FILE).read_bytes()
        if hashlib.sha256(content).hexdigest() != CHECKSUM:
            raise DataError(
                f"the weights of the pre-trained network are damaged ({FILE}): install quantshift "
                "again"
            )
    else:
        content = Path(file).read_bytes()
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return {name: arrays[name].astype(np.float64) for name in arrays.files}
