import polars as pl
from polars.testing import assert_frame_equal

from quantshift.lab.analysis import bias_by_class, compare_with_best, mean_ranks, summarise
from quantshift.lab.analysis.deviations import with_errors
from quantshift.lab.analysis.facets import part_of
from quantshift.lab.analysis.lean import OUTCOME, lean

POINTS = [
    {"p_train": 0.5, "p_test": p_test, "degree": round(p_test - 0.5, 1)} for p_test in (0.3, 0.7)
]


def test_light_rows_give_the_same_statistics(outcomes):
    frame = with_errors(part_of(outcomes({"B": 0.1, "A": 0.2}, points=POINTS, noise=0.05)))
    light = lean(frame, OUTCOME)
    assert light.columns == list(OUTCOME)
    assert light.schema["method"] == pl.Categorical
    by = ["part", "degree", "method"]
    assert_frame_equal(summarise(light, by), summarise(frame, by))
    assert_frame_equal(
        compare_with_best(light, ["part", "degree"]), compare_with_best(frame, ["part", "degree"])
    )
    assert mean_ranks(light) == mean_ranks(frame)
    assert_frame_equal(bias_by_class(lean(frame), ["method"]), bias_by_class(frame, ["method"]))
