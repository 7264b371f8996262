"""A share week by week, and an alarm when the estimate cannot be trusted.

    python examples/monitoring.py [FOLDER]

Writes the model and a page with charts, parts.html, to the folder (default: a temporary one).
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from quantshift import quantify, train
from quantshift.quantifying import save_model


def parts(n: int, worn: float, rng: np.random.Generator, *, drift: float = 0.0) -> pl.DataFrame:
    """Parts with two measurements; drift: by how much the first sensor reads too high."""
    state = rng.random(n) < worn
    return pl.DataFrame(
        {
            "vibration": rng.normal(1.6 * state + drift, 1.0),
            "heat": rng.normal(1.2 * state, 1.0),
            "state": np.where(state, "worn", "fine"),
        }
    )


def main(folder: Path) -> None:
    rng = np.random.default_rng(0)
    save_model(train(parts(1000, 0.4, rng), label="state"), folder / "model")
    day = np.datetime64("2026-03-02")
    weeks = [
        parts(300, worn, rng, drift=drift).with_columns(day=pl.lit(day + 7 * week))
        for week, (worn, drift) in enumerate([(0.1, 0), (0.1, 0), (0.3, 0), (0.1, 2.0)])
    ]
    new = pl.concat(weeks).drop("state")
    answer = quantify(new, model=folder / "model", by="day", every="week")
    for batch, frame in zip(answer.batches, weeks, strict=True):
        worn = batch.shares[1]
        alarm = batch.shift and batch.shift.rejected
        share = "unknown" if worn.estimate is None else f"{worn.estimate:.3f}"
        print(
            f"{batch.name}  worn {share} ({worn.low:.3f} to {worn.high:.3f}), "
            f"truth {(frame['state'] == 'worn').mean():.3f}"
            + ("  changed" if batch.change else "")
            + ("  ALARM: do not trust it, label some parts" if alarm else "")
        )
    answer.to_html(folder / "parts.html")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(Path(scratch))
