"""The weights of the network, as shipped: read once, and refused if they are damaged."""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from quantshift.base.types import Reals
from quantshift.errors import DataError
from quantshift.quantifiers.pretrained.columns import N_COLUMNS
from quantshift.quantifiers.pretrained.network import cell_shares, log_density
from quantshift.quantifiers.pretrained.summaries import TaskBatch, task_summaries

FILE = "weights.npz"
VERSION = 1
"""Raised with every new training; see docs/quantifiers/pretrained-quantifier.md."""

CHECKSUM = "9487b4a713ee09f88004122250d5528cf07af30c80aff1b97dc55b25d9034860"


def network_weights(file: str | None = None) -> dict[str, Reals]:
    """The arrays of the network by name; `file` is one that training has written."""
    if file is None:
        return _shipped()
    path = Path(file)
    try:
        status = path.stat()
    except OSError as error:
        raise DataError(
            f"{file}: the weights of the network cannot be read ({error.strerror})"
        ) from error
    return _own(file, status.st_mtime_ns, status.st_size)


def shipped_weights(content: bytes) -> dict[str, Reals]:
    """The arrays in the file of the package, if it is as it was shipped."""
    if hashlib.sha256(content).hexdigest() != CHECKSUM:
        raise DataError(
            f"the weights of the pre-trained network are damaged ({FILE}): install quantshift again"
        )
    return _arrays(content)


@lru_cache(maxsize=1)
def _shipped() -> dict[str, Reals]:
    return shipped_weights(files(__package__).joinpath(FILE).read_bytes())


@lru_cache(maxsize=2)
def _own(file: str, _modified: int, _size: int) -> dict[str, Reals]:
    """The arrays of a file of one's own training, read again when it has changed."""
    try:
        weights = _arrays(Path(file).read_bytes())
        answers = _tried(weights)
    except OSError as error:
        raise DataError(
            f"{file}: the weights of the network cannot be read ({error.strerror})"
        ) from error
    # Errors of numpy for files that are not archives of arrays, and for arrays that do not fit.
    except (ValueError, TypeError, KeyError, IndexError, EOFError, zipfile.BadZipFile) as error:
        raise _no_network(file) from error
    except (zlib.error, NotImplementedError, RuntimeError, MemoryError) as error:
        raise _no_network(file) from error
    if not np.isfinite(answers).all():
        raise _no_network(file)
    return weights


def _arrays(content: bytes) -> dict[str, Reals]:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return {name: arrays[name].astype(np.float64) for name in arrays.files}


def _tried(weights: Mapping[str, Reals]) -> Reals:
    """What the network says of a small task in which hardly anything is known."""
    items, sides = np.zeros((1, 4, N_COLUMNS)), np.array([[0.0, 0.0, 1.0, 1.0]])
    equal, size, none = np.full((1, 4), 0.25), np.array([4.0]), np.zeros((1, 4))
    task = TaskBatch(
        X=items,
        y=sides,
        logits=2 * sides - 1,
        sample=items,
        sample_logits=1 - 2 * sides,
        shown=np.ones((1, N_COLUMNS)),
        weights=equal,
        sample_weights=equal,
        size=size,
        sample_size=size,
        labelled=none,
        labels=none,
    )
    with np.errstate(all="ignore"):
        answers: Reals = log_density(weights, task_summaries(task, cell_shares(np), np), np)
    return answers


def _no_network(file: str) -> DataError:
    return DataError(f"{file}: not the weights of a network; write them with training.export")
