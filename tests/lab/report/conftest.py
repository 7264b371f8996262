"""Results made up for the tests of reports: any number of classes, data sets, methods, facets."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from quantshift.base.seeding import generator
from quantshift.lab.results.about import About
from quantshift.lab.results.schema import conform, schema_of
from quantshift.lab.shifts.parts.coordinate import Coordinate
from quantshift.lab.shifts.protocol import Words

SEASON = Coordinate("season", "test", "string", "season of the year", "")
P_TRAIN = Coordinate("p_train", "train", "float", "training prevalence", "p_L")
P_TEST = Coordinate("p_test", "test", "float", "test prevalence", "p_U")


def many_methods(n: int) -> tuple[str, ...]:
    """Names of methods nobody knows, some of them long."""
    return tuple(f"Method{i:02d}" + "-with-a-long-name" * (i % 7 == 0) for i in range(n))


def own_about(
    experiment: str = "mine",
    *,
    datasets: Mapping[str, tuple[str, ...]] | None = None,
    words: Words | None = None,
    coordinates: Sequence[Coordinate] = (P_TRAIN, P_TEST, SEASON),
) -> About:
    """A protocol that nobody knows, with a coordinate of its own."""
    return About(
        name=experiment,
        title="Seasonal shift",
        shift="seasonal",
        coordinates=tuple(coordinates),
        words=words or Words("Seasonal shift", "$s_U - s_L$", digits=1),
        datasets=datasets or {"shop": ("no", "yes")},
        diagnostics={},
    )


def own_outcomes(
    methods: Sequence[str],
    about: About,
    *,
    facets: Sequence[str] = ("",),
    degrees: Sequence[float | None] = (-0.4, 0.0, 0.4),
    train_repeats: int = 3,
    repeats: int = 4,
) -> pl.DataFrame:
    """Results of that protocol: later methods err more, and away from a degree of 0."""
    rng = generator(0, report=about.name)
    rows: list[dict[str, Any]] = []
    for dataset, classes in about.datasets.items():
        for stratum, p_train in enumerate((0.3, 0.6)):
            for train_repeat in range(train_repeats):
                points = [(f, d, r) for f in facets for d in degrees for r in range(repeats)]
                for sample, (facet, degree, repeat) in enumerate(points):
                    p_true = _drawn(rng, len(classes), repeat / max(repeats - 1, 1))
                    place = {
                        "experiment": about.name,
                        "shift": about.shift,
                        "dataset": dataset,
                        "cell": f"p_train-{p_train},train_repeat-{train_repeat}",
                        "stratum": stratum,
                        "train_repeat": train_repeat,
                        "sample": sample,
                        "facet": facet,
                        "degree": degree,
                        "size": 100,
                        "p_true": p_true.tolist(),
                        "p_train": p_train,
                        "p_test": round(float(p_true[-1]), 6),
                        "season": ("summer", "winter")[repeat % 2],
                    }
                    for i, method in enumerate(methods):
                        spread = 0.02 + 0.002 * i + 0.05 * abs(degree or 0)
                        p_hat = np.clip(p_true + rng.normal(0.004 * i, spread, len(classes)), 0, 1)
                        p_hat = (p_hat + 1e-6) / (p_hat + 1e-6).sum()
                        rows.append({**place, "method": method, "p_hat": p_hat.tolist()})
    declared = schema_of(about.coordinates, about.diagnostics)
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return conform(frame.select(name for name in frame.columns if name in declared), declared)


def _drawn(rng: np.random.Generator, n_classes: int, last: float) -> np.ndarray[Any, Any]:
    """A prevalence: the grid point of the last class for two, anything for more."""
    return np.array([1 - last, last]) if n_classes == 2 else rng.dirichlet(np.ones(n_classes))


@pytest.fixture(scope="session")
def make_about() -> Callable[..., About]:
    """The maker of what is told of a protocol nobody knows."""
    return own_about


@pytest.fixture(scope="session")
def make_results() -> Callable[..., pl.DataFrame]:
    """The maker of its results."""
    return own_outcomes
