import polars as pl
import pytest

from quantshift.analysis.parts import part_of
from quantshift.results.schema import SCHEMA


@pytest.mark.parametrize(
    ("row", "part"),
    [
        ({"experiment": "prior", "p_train": 0.5, "p_test": 0.5}, "prior"),
        (
            {
                "experiment": "covariate",
                "p_train": 0.3,
                "p_test": 0.1 + 0.2,
                "alpha_train": 0.0,
                "alpha_test": 1.0,
            },
            "covariate-pure",
        ),
        (
            {
                "experiment": "covariate",
                "p_train": 0.25,
                "p_test": 0.5,
                "alpha_train": 0.0,
                "alpha_test": 1.0,
            },
            "covariate-mixed",
        ),
        ({"experiment": "local", "p_train": 0.5, "p_test": 0.3, "control": False}, "local"),
        ({"experiment": "local", "p_train": 0.5, "p_test": 0.3, "control": True}, "local-control"),
        ({"experiment": "concept", "cut_train": 1.5, "cut_test": 2.5}, "concept"),
        ({"experiment": "concept-forced", "p_train": 0.5, "p_test": 0.75}, "concept-forced"),
        ({"experiment": "ours"}, "ours"),
        ({"experiment": "ours", "control": True}, "ours-control"),
    ],
)
def test_part(row, part):
    frame = pl.DataFrame([row], schema=SCHEMA)
    assert part_of(frame)["part"].to_list() == [part]
