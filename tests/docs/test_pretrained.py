"""The figures of the pre-trained quantifier: how they are made of estimates and of tasks."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

from benchmarks.pretrained_figures import criteria, figures, levels
from quantshift.quantifiers.pretrained.distribution import HEDGE
from website.overview import save
from website.pretrained import (
    CALIBRATION,
    FAMILIES_PICTURE,
    FIGURES,
    calibration_picture,
    families_picture,
    of_families,
    some_tasks,
)

pytestmark = pytest.mark.slow


def estimate(table: str, method: str, value: float, **values: object) -> dict[str, object]:
    """A row of the benchmark: the truth is .5, intervals are from .4 to .6."""
    common = {"world": "natural", "table": table, "column": "c", "trained": "a", "k": 0}
    interval = {"truth": 0.5, "low": 0.4, "high": 0.6, "seed": 0, "covers_from": 0.3}
    return {**common, **interval, "method": method, "estimate": value, **values}


ESTIMATES = pd.DataFrame(
    [
        # Table a: two samples of each of two seeds; table b: one sample, which is missed by .1.
        *(estimate("a", "pretrained", 0.5 + e, seed=s) for s in (0, 1) for e in (0.1, 0.3)),
        *(
            estimate("b", "pretrained", 0.5, seed=s, low=0.6, high=0.7, covers_from=0.97)
            for s in (0, 1)
        ),
        estimate("a", "hull", 0.5, low=0.0, high=0.9, seed=np.nan),
        estimate("b", "hull", 0.5, low=0.45, high=0.55, seed=np.nan),
    ]
)


def test_every_table_counts_the_same_and_errors_are_over_tables() -> None:
    row = figures(ESTIMATES).set_index("method").loc["pretrained"]
    assert row["tables"] == 2
    assert_allclose(row["error"], np.mean([0.2, 0.0]))
    assert_allclose(row["error_se"], np.std([0.2, 0.0], ddof=1) / np.sqrt(2))
    assert_allclose(row["error_seeds"], 0, atol=1e-12)
    assert_allclose(row["coverage"], 0.5)
    assert_allclose(row["score"], np.mean([0.2, 0.1 + 20 * 0.1]))


def test_coverage_at_all_levels() -> None:
    found = levels(ESTIMATES).set_index("level")["coverage"]
    assert_allclose([found[0.25], found[0.30], found[0.95]], [0, 0.5, 0.5])


def test_what_was_asked_is_compared_with_what_was_found() -> None:
    found = criteria(ESTIMATES).set_index("asked")
    lower = found.loc["interval score below the range's, share of tasks"]
    assert lower["found"] == pytest.approx(0.5)
    assert lower["met"] == "no"
    gain = found.loc["interval score below the range's by"]
    assert gain["found"] == pytest.approx(1 - np.mean([0.2, 2.1]) / np.mean([0.9, 0.1]))


def test_coverage_in_simulated_worlds() -> None:
    """Of a calibrated network, 1 - .1 ** (1 / HEDGE) of the intervals of 90 % cover after it."""
    below = np.arange(2000) / 2000 + 1 / 4000
    task = {"family": "Prior", "training": 0.5, "pcc": 0.4, "sld": 0.3, "truth": 0.2}
    frame = pl.DataFrame({"below": np.tile(below, 2), "k": np.repeat([0, 10], 2000)}).with_columns(
        *(pl.lit(value).alias(name) for name, value in task.items()),
        *(pl.lit(0.2 + e).alias(name) for e, name in ((-0.1, "low"), (0, "median"), (0.3, "high"))),
    )
    none, some = of_families(frame).sort("k").iter_rows(named=True)
    assert none["hedged"] == none["coverage"] == some["coverage"] == pytest.approx(0.9, abs=1e-3)
    assert some["hedged"] == some["c90"] == pytest.approx(1 - 0.1 ** (1 / HEDGE), abs=1e-3)
    assert (none["pcc_error"], none["width"]) == (pytest.approx(0.2), pytest.approx(0.4))
    assert set(some_tasks(frame)["family"]) == {"Prior"}


def test_pictures_are_what_the_script_draws(tmp_path) -> None:
    tasks = pl.read_csv(FIGURES / "pretrained-tasks.csv")
    drawn = {CALIBRATION: calibration_picture(FIGURES), FAMILIES_PICTURE: families_picture(tasks)}
    for path, figure in drawn.items():
        save(figure, tmp_path / path.name)
        again = (tmp_path / path.name).read_text().count("<path")
        assert path.read_text().count("<path") == again, "run `python -m website.pretrained`"
