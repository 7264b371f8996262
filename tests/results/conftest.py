"""Small synthetic results, the same in every process."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from quantshift.results import ResultStore
from quantshift.seeding import generator

CELLS = [f"p_train={p},train_repeat={r}" for p in ("0.1", "0.5") for r in range(3)]


def signatures(methods: Iterable[str]) -> dict[str, str]:
    return {method: f"signature-of-{method}" for method in methods}


def description(methods: Iterable[str] = ("CC", "SLD"), **changes: Any) -> dict[str, Any]:
    experiment = {
        "title": "Prior probability shift",
        "shift": {"kind": "prior", "train_size": 5000},
        "methods": [{"name": m, "signature": s} for m, s in signatures(methods).items()],
    }
    return {"corpus": "c0ffee", "seed": 0, "experiments": {"prior": experiment}} | changes


def rows(
    cell: str = CELLS[0],
    methods: Iterable[str] = ("CC", "SLD"),
    n: int = 20,
    experiment: str = "prior",
) -> pl.DataFrame:
    frames = []
    for method in methods:
        rng = generator(0, cell=cell, method=method)
        p_test = np.repeat(np.arange(5) / 4, -(-n // 5))[:n]
        frame = pl.DataFrame(
            {
                "experiment": experiment,
                "cell": cell,
                "method": method,
                "p_test": p_test,
                "repeat": np.arange(n),
                "train_repeat": int(cell[-1]),
                "size": 500,
                "p_true": p_test,
                "p_hat": rng.random(n),
            }
        )
        if method == "SLD":
            frame = frame.with_columns(
                iterations=pl.Series(rng.integers(1, 9, n)), converged=pl.lit(value=True)
            )
        frames.append(frame)
    return pl.concat(frames, how="diagonal")


def fill(path: Path, cells: Iterable[str] = CELLS, methods: Iterable[str] = ("CC", "SLD"), n=20):
    store = ResultStore.create(path, description(methods))
    for cell in cells:
        store.write_part("prior", cell, signatures(methods), rows(cell, methods, n))
    return store


@pytest.fixture(name="description")
def description_fixture() -> Callable[..., dict[str, Any]]:
    return description


@pytest.fixture(name="rows")
def rows_fixture() -> Callable[..., pl.DataFrame]:
    return rows


@pytest.fixture(name="signatures")
def signatures_fixture() -> Callable[[Iterable[str]], Mapping[str, str]]:
    return signatures


@pytest.fixture(name="cells", scope="session")
def cells_fixture() -> list[str]:
    return CELLS


@pytest.fixture(name="fill")
def fill_fixture() -> Callable[..., ResultStore]:
    return fill


@pytest.fixture
def store(tmp_path: Path) -> ResultStore:
    """Six cells of two methods, one part each."""
    return fill(tmp_path / "store")


@pytest.fixture(scope="session")
def builders() -> Path:
    """This file, for processes that write the same results."""
    return Path(__file__)
