"""What the tests of data sets share: a small table with everything in it."""

import polars as pl
import pytest

N = 60


@pytest.fixture
def table() -> pl.DataFrame:
    """Sixty rows: a label, numbers with gaps, words, truth values, a category, an id."""
    return pl.DataFrame(
        {
            "id": [f"kunde-{i:03d}" for i in range(N)],
            "age": [None if i % 7 == 0 else 20 + i * 3 % 41 for i in range(N)],
            "größe": [1.5 + i % 5 for i in range(N)],
            "farbe": [("rot", "grün", "blau")[i % 3] for i in range(N)],
            "member": [i % 4 == 0 for i in range(N)],
            "empty": pl.Series([None] * N, dtype=pl.String),
            "same": ["x"] * N,
            "land": [("DE", "FR")[i % 2] for i in range(N)],
            "churn": [("ja", "nein")[i % 3 == 0] for i in range(N)],
        }
    )
