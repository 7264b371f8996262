"""A small problem that every method solves, with each number of classes.

As a program it prints the estimates of the methods that it is given, and on what machine:

    python tests/end_to_end/frozen_methods.py SLD PACC
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
from numpy.typing import NDArray
from threadpoolctl import threadpool_info

from quantshift.quantifiers.base import catalogue

N_CLASSES = (2, 3, 10)


def problem(n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Training items with their classes, and new items of which the first class is rarer."""
    rng = np.random.default_rng(n_classes)
    centres = rng.normal(0.0, 1.6, (n_classes, 4))
    y = np.arange(60 * n_classes) % n_classes
    y_new = np.sort(rng.integers(0, n_classes, 40 * n_classes))[15:]
    X = centres[y] + rng.normal(size=(len(y), 4))
    return X, y, centres[y_new] + rng.normal(size=(len(y_new), 4))


def estimates(name: str, n_classes: int, *, weighted: bool = False) -> list[list[float]]:
    """Shares that a method gives three samples of the problem, with or without weights."""
    X, y, X_new = problem(n_classes)
    weights = 1.0 + np.arange(len(y)) % 3 if weighted else None
    samples = [np.arange(len(X_new)), np.arange(0, len(X_new), 2), np.arange(25)]
    method = catalogue.quantifiers()[name]().fit(X, y, weights)
    shares: list[list[float]] = np.asarray(method.predict(X_new, samples)).tolist()
    return shares


def cases() -> Iterator[tuple[str, int, bool]]:
    """Every method with each number of classes, without and with weights."""
    for name in sorted(catalogue.quantifiers()):
        for n_classes in N_CLASSES:
            for weighted in (False, True):
                yield name, n_classes, weighted


def key_of(name: str, n_classes: int, weighted: bool) -> str:
    """What the file of stored estimates calls a case."""
    return f"{name} {n_classes}{' weighted' if weighted else ''}"


def machine() -> dict[str, Any]:
    """What decides about the last digits here."""
    blas = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {
        "kernels": sorted({pool.get("architecture") or "" for pool in blas}),
        "threads": max(pool["num_threads"] for pool in blas),
        "compiled for": numba.config.CPU_NAME,
        "features": [name for name in __cpu_dispatch__ if __cpu_features__[name]],
    }


if __name__ == "__main__":
    answers = {name: estimates(name, 3) for name in sys.argv[1:]}
    sys.stdout.write(json.dumps({"machine": machine(), "estimates": answers}))
