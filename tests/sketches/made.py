"""Scores for the tests of sketches."""

import numpy as np
import polars as pl


def scores_of(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return 1 / (1 + np.exp(-(1.5 * (2 * codes - 1) + 1.4 * rng.normal(size=len(codes)))))


def labelled(n: int = 3000, share: float = 0.4, *, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    codes = (rng.random(n) < share).astype(int)
    return pl.DataFrame({"p": scores_of(codes, rng), "y": np.where(codes == 1, "spam", "ham")})


def batches(shares: dict[str, float], n: int = 5000, *, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.concat(
        pl.DataFrame({"p": scores_of((rng.random(n) < share).astype(int), rng), "day": [day] * n})
        for day, share in shares.items()
    )


def awkward() -> list[float | None]:
    """Numbers on and beside every border, numbers that are none, and gaps."""
    powers = 2.0 ** -np.arange(0, 1075)
    ends = [0.0, -0.0, 5e-324, -5e-324, np.nan, np.inf, -np.inf, 2.0, -1.0, 1.0 + 1e-15]
    middle = np.arange(0, 4097) / 4096
    borders = np.concatenate([powers, 1 - powers, middle, ends])
    rng = np.random.default_rng(0)
    beside = [np.nextafter(borders, 2.0), np.nextafter(borders, -1.0)]
    drawn = [rng.random(3000), rng.beta(0.02, 0.02, 3000), rng.random(500).astype(np.float32)]
    every = np.concatenate([borders, *beside, *drawn]).astype(np.float64)
    return [None if i % 97 == 0 else float(value) for i, value in enumerate(every)]
