"""Small synthetic results, the same in every process."""

import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from quantshift.base.seeding import generator
from quantshift.lab.results import ResultStore, conform, schema_of
from quantshift.lab.shifts.parts.coordinate import Coordinate
from quantshift.lab.shifts.protocol import Words

CELLS = [f"p_train={p},train_repeat={r}" for p in ("0.1", "0.5") for r in range(3)]


DATASET = "reviews"
COORDINATES = [
    Coordinate("p_train", "train", "float", "training prevalence", "p_L"),
    Coordinate("p_test", "test", "float", "test prevalence", "p_U"),
    Coordinate("repeat", "test", "int", "number of the sample", ""),
]
DIAGNOSTICS = {"iterations": "int", "converged": "bool", "distance": "float"}
SCHEMA = schema_of(COORDINATES, DIAGNOSTICS)


def signatures(methods: Iterable[str]) -> dict[str, str]:
    return {method: f"signature-of-{method}" for method in methods}


def description(
    methods: Iterable[str] = ("CC", "SLD"), datasets: Iterable[str] = (DATASET,), **changes: Any
) -> dict[str, Any]:
    experiment = {
        "title": "Prior probability shift",
        "shift": {"kind": "prior", "train_size": 5000},
        "datasets": {
            name: {"items": f"hash of {name}", "source": name, "classes": ["negative", "positive"]}
            for name in datasets
        },
        "coordinates": [coordinate.as_json() for coordinate in COORDINATES],
        "diagnostics": DIAGNOSTICS,
        "words": Words("Prior shift", "$p_U - p_L$", digits=1).as_json(),
        "methods": [{"name": m, "signature": s} for m, s in signatures(methods).items()],
    }
    return {"corpus": "c0ffee", "seed": 0, "experiments": {"prior": experiment}} | changes


def rows(
    cell: str = CELLS[0],
    methods: Iterable[str] = ("CC", "SLD"),
    n: int = 20,
    experiment: str = "prior",
    dataset: str = DATASET,
) -> pl.DataFrame:
    frames = []
    for method in methods:
        rng = generator(0, cell=cell, method=method)
        p_test = np.repeat(np.arange(5) / 4, -(-n // 5))[:n]
        p_hat = rng.random(n)
        frame = pl.DataFrame(
            {
                "experiment": experiment,
                "shift": "prior",
                "dataset": dataset,
                "cell": cell,
                "method": method,
                "stratum": int(cell.startswith("p_train=0.5")),
                "train_repeat": int(cell[-1]),
                "sample": np.arange(n),
                "facet": "",
                "size": 500,
                "p_true": np.column_stack([1 - p_test, p_test]),
                "p_hat": np.column_stack([1 - p_hat, p_hat]),
                "p_test": p_test,
                "repeat": np.arange(n),
            }
        )
        if method == "SLD":
            frame = frame.with_columns(
                iterations=pl.Series(rng.integers(1, 9, n)), converged=pl.lit(value=True)
            )
        frames.append(frame)
    return conform(pl.concat(frames, how="diagonal"), SCHEMA)


def fill(path: Path, cells: Iterable[str] = CELLS, methods: Iterable[str] = ("CC", "SLD"), n=20):
    store = ResultStore.create(path, description(methods))
    for cell in cells:
        store.write_part("prior", DATASET, cell, signatures(methods), rows(cell, methods, n))
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


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store that no test changes."""
    return fill(tmp_path_factory.mktemp("filled") / "store").path


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> ResultStore:
    """Six cells of two methods, one part each."""
    return ResultStore.open(shutil.copytree(filled, tmp_path / "store"))


@pytest.fixture(scope="session")
def builders() -> Path:
    """This file, for processes that write the same results."""
    return Path(__file__)


@pytest.fixture(scope="session")
def schema() -> pl.Schema:
    """The columns of the rows."""
    return SCHEMA
