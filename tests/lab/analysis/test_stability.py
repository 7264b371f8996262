"""Mean ranks with intervals, and without one of the data sets."""

import numpy as np
import polars as pl
import pytest

from quantshift.errors import DataError
from quantshift.lab.analysis import rank_stability


def frame_of(errors, *, n_cells=1):
    """Errors of data set -> method -> one number per sample, spread over the cells."""
    rows = [
        {
            "dataset": dataset,
            "method": method,
            "cell": f"cell {sample % n_cells}",
            "sample": sample // n_cells,
            "error": float(error),
            "signed": 0.0,  # errors are there already
        }
        for dataset, methods in errors.items()
        for method, values in methods.items()
        for sample, error in enumerate(values)
    ]
    return pl.DataFrame(rows)


def constant(**methods):
    return {name: np.full(12, error) for name, error in methods.items()}


def test_ranks_are_means_and_leaving_one_out_gives_the_extremes():
    stability = rank_stability(
        frame_of(
            {
                "one": constant(CC=0.1, PCC=0.2, SLD=0.3),
                "two": constant(CC=0.1, PCC=0.2, SLD=0.3),
                "three": constant(CC=0.3, PCC=0.2, SLD=0.1),
            }
        )
    )
    table = {row["method"]: row for row in stability.frame().iter_rows(named=True)}
    assert table["CC"]["mean_rank"] == pytest.approx(5 / 3)
    # Without the third, CC is always first; without one of the others, first and third.
    assert (table["CC"]["lowest"], table["CC"]["highest"]) == (1, 2)
    assert (table["SLD"]["lowest"], table["SLD"]["highest"]) == (2, 3)
    assert (table["PCC"]["lowest"], table["PCC"]["highest"]) == (2, 2)
    # Errors do not vary, so neither do ranks.
    assert all(row["low"] == row["mean_rank"] == row["high"] for row in table.values())
    assert stability.methods[0] == "CC"


def test_data_sets_with_few_samples_are_not_ranked():
    errors = {"many": constant(CC=0.1, PCC=0.2), "few": {"CC": [0.9] * 6, "PCC": [0.1] * 6}}
    stability = rank_stability(frame_of(errors))
    assert stability.datasets == ("many",)
    assert stability.few == {"few": 6}
    assert dict(zip(stability.methods, stability.ranks, strict=True)) == {"CC": 1, "PCC": 2}
    assert rank_stability(frame_of(errors), fewest=6).ranks == (1.5, 1.5)
    with pytest.raises(DataError, match="ranks need 13 samples of a data set or more; few has 6, "):
        rank_stability(frame_of(errors), fewest=13)


def test_methods_without_all_samples_are_named_and_not_ranked():
    errors = {"one": {**constant(CC=0.1, PCC=0.2), "SLD": [0.0] * 11}}
    stability = rank_stability(frame_of(errors))
    assert stability.unranked == ("SLD",)
    assert stability.methods == ("CC", "PCC")
    with pytest.raises(DataError, match="two methods"):
        rank_stability(frame_of({"one": {"CC": [0.1] * 12, "PCC": [0.2] * 11}}))


def test_intervals_are_as_wide_as_the_ranks_of_other_draws_vary():
    """The share of draws in which the better method is first, and of resamples, agree."""
    rng = np.random.default_rng(0)

    def drawn():
        return {"one": {"CC": rng.normal(0.5, 1, 40), "PCC": rng.normal(0.5, 1, 40)}}

    stability = rank_stability(frame_of(drawn()))
    assert (stability.low, stability.high) == ((1, 1), (2, 2))
    clear = {"one": {"CC": rng.normal(0, 1, 400), "PCC": rng.normal(1, 1, 400)}}
    stability = rank_stability(frame_of(clear))
    assert (stability.low, stability.high) == ((1, 2), (1, 2))


def test_training_sets_are_resampled_where_there_are_several():
    """Within a cell all samples agree: resampling samples would make the interval too narrow."""
    cells = np.array([0.0, 0.0, 0.6])  # of three training sets, one is bad
    errors = {"one": {"CC": np.tile(cells, 400), "PCC": np.full(1200, 0.25)}}
    by_cell = rank_stability(frame_of(errors, n_cells=3))
    by_sample = rank_stability(frame_of(errors, n_cells=1))
    assert by_cell.high[by_cell.methods.index("CC")] == 2
    assert by_sample.high[by_sample.methods.index("CC")] == 1


def test_equal_seeds_give_equal_intervals():
    rng = np.random.default_rng(1)
    errors = {
        name: {method: rng.normal(size=30) for method in ("CC", "PCC", "SLD")} for name in "abcd"
    }
    frame = frame_of(errors)
    assert rank_stability(frame) == rank_stability(frame)
    assert rank_stability(frame, level=0.5).high != rank_stability(frame).high
