"""Raw outcomes made up for the tests of this folder."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from quantshift.results.schema import conform

Outcomes = Callable[..., pl.DataFrame]


def make_outcomes(
    errors: Mapping[str, float],
    *,
    experiment: str = "prior",
    points: Sequence[Mapping[str, Any]] = ({"p_train": 0.5, "p_test": 0.3, "degree": -0.2},),
    train_repeats: int = 3,
    repeats: int = 4,
    noise: float = 0.0,
    seed: int = 0,
) -> pl.DataFrame:
    """Outcomes of methods whose error is that of `errors`, plus noise that differs by sample."""
    rng = np.random.default_rng(seed)
    training = ("p_train", "alpha_train", "cut_train")
    rows = []
    for point in points:
        names = {name: point[name] for name in training if point.get(name) is not None}
        for train_repeat in range(train_repeats):
            coordinates = {**names, "train_repeat": train_repeat}
            cell = ",".join(f"{name}={value:g}" for name, value in coordinates.items())
            for repeat in range(repeats):
                for method, error in errors.items():
                    p_true = point.get("p_test") or 0.5
                    rows.append(
                        {
                            **point,
                            "experiment": experiment,
                            "cell": cell,
                            "method": method,
                            "train_repeat": train_repeat,
                            "repeat": repeat,
                            "size": 500,
                            "p_true": p_true,
                            "p_hat": p_true + error + noise * rng.normal(),
                        }
                    )
    return conform(pl.DataFrame(rows, infer_schema_length=None))


@pytest.fixture(scope="session")
def outcomes() -> Outcomes:
    """The maker of outcomes."""
    return make_outcomes
