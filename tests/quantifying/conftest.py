"""Small tables of synthetic reviews, and a model trained on them."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quantshift.lab.data.embedded.synthetic import generate
from quantshift.quantifying import Model, train


@pytest.fixture(scope="session")
def reviews() -> pl.DataFrame:
    """Reviews of two classes with a date and two numbers that tell something of the class."""
    corpus = generate(3000, seed=0)
    kept = np.flatnonzero(corpus.stars != 3)
    positive = corpus.stars[kept] > 3
    rng = np.random.default_rng(0)
    texts = np.array(corpus.texts(), dtype=object)[kept]
    days = rng.integers(0, 60, len(kept))
    return pl.DataFrame(
        {
            "review": texts.astype(str),
            "sentiment": np.where(positive, "positive", "negative"),
            "date": np.datetime64("2026-01-01") + days,
            "length": rng.normal(size=len(kept)) + 1.5 * positive,
            "price": rng.normal(size=len(kept)) - positive,
        }
    )


@pytest.fixture(scope="session")
def folder(reviews: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """labelled.csv (balanced, 600 rows) and new.csv (300 rows, 30% positive) with truth.csv."""
    path = tmp_path_factory.mktemp("tables")
    positive = reviews.filter(pl.col("sentiment") == "positive")
    negative = reviews.filter(pl.col("sentiment") == "negative")
    labelled = pl.concat([positive[:300], negative[:300]]).sample(fraction=1, shuffle=True, seed=0)
    labelled.write_csv(path / "labelled.csv")
    sample = pl.concat([positive[300:390], negative[300:510]])
    sample = sample.sample(fraction=1, shuffle=True, seed=1)
    sample.write_csv(path / "truth.csv")
    sample.drop("sentiment").write_csv(path / "new.csv")
    return path


@pytest.fixture(scope="session")
def plain_model(folder: Path) -> Model:
    """A quick model of the numbers, without a shift test."""
    return train(
        folder / "labelled.csv", label="sentiment", features=["length", "price"], method="PACC"
    )


@pytest.fixture(scope="session")
def model(folder: Path) -> Model:
    """A model of the texts."""
    return train(folder / "labelled.csv", label="sentiment", text="review")
