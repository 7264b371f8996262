import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quantshift.lab.analysis import compare_with_best, part_of, summarise
from tests.outcomes import as_results


@st.composite
def outcomes(draw):
    """Outcomes with ties, gaps and any number of training sets; hundredths as errors."""
    n_methods = draw(st.integers(1, 4))
    n_points = draw(st.integers(1, 3))
    n_cells = draw(st.integers(1, 4))
    n_samples = draw(st.integers(1, 5))
    shape = (n_methods, n_points, n_cells, n_samples)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    method, point, cell, sample = (axis.ravel() for axis in np.indices(shape))
    frame = as_results(
        pl.DataFrame(
            {
                "experiment": "prior",
                "cell": [f"{p}-{c}" for p, c in zip(point, cell, strict=True)],
                "method": [f"M{m}" for m in method],
                "p_train": point / 10,
                "p_test": np.full(method.size, 0.3),
                "train_repeat": cell,
                "repeat": sample,
                "degree": np.round(0.3 - point / 10, 1),
                "size": np.full(method.size, 100),
                "p_true": np.full(method.size, 0.3),
                "p_hat": rng.integers(0, 8, method.size) / 100 + 0.26,
            }
        )
    )
    gaps = rng.random(frame.height) < draw(st.sampled_from([0.0, 0.3]))
    kept = frame.filter(pl.Series(~gaps))
    return frame if kept.is_empty() else kept


@given(outcomes())
def test_every_group_has_one_best_and_no_complete_method_is_better(frame):
    compared = compare_with_best(frame, ["degree"])
    for _, group in compared.group_by("degree"):
        best = group.filter(pl.col("mark") == "best")
        assert len(best) == 1
        complete = group.filter(pl.col("n") == pl.col("samples"))
        rivals = complete if len(complete) else group
        assert best["mean"][0] <= rivals["mean"].min() + 1e-9
        assert best["method"][0] in rivals["method"]
    assert compared["p_value"].drop_nulls().is_between(0, 1).all()


@given(outcomes())
def test_means_are_those_of_the_rows(frame):
    error = (pl.col("p_hat").list.last() - pl.col("p_true").list.last()).abs()
    plain = frame.group_by("degree", "method").agg(mean=error.mean(), n=pl.len())
    plain = plain.sort("degree", "method")
    compared = compare_with_best(frame, ["degree"]).sort("degree", "method")
    summary = summarise(frame, ["degree", "method"], n_bootstrap=20)
    for ours in (compared, summary):
        assert ours["n"].to_list() == plain["n"].to_list()
        np.testing.assert_allclose(ours["mean"], plain["mean"], atol=1e-12)


@given(outcomes())
def test_boxes_are_in_order_and_limits_inside_the_range(frame):
    summary = summarise(frame, ["part", "method"], n_bootstrap=50)
    order = ["whisker_low", "q1", "median", "q3", "whisker_high"]
    values = summary.select(order).to_numpy()
    assert (np.diff(values, axis=1) >= -1e-12).all()
    limits = summary.drop_nulls("low")
    assert (limits["low"] <= limits["high"]).all()
    assert limits["low"].is_between(-1e-12, 1).all()
    alone = summary.filter(pl.col("training_sets") == 1)
    assert alone["low"].null_count() == len(alone)


@given(outcomes())
def test_parts_add_a_column_and_change_nothing(frame):
    parts = part_of(frame)
    assert parts.drop("part").equals(frame)
    assert parts["part"].unique().to_list() == ["prior"]


def test_means_of_identical_groups_are_identical():
    # Sums in another order may differ in the last bits: the order must be fixed.
    rng = np.random.default_rng(0)
    rows = pl.DataFrame(
        {
            "experiment": "prior",
            "cell": [f"c{i % 7}" for i in range(700)],
            "method": "M",
            "train_repeat": 0,
            "repeat": list(range(700)),
            "size": 100,
            "p_true": 0.5,
            "p_hat": rng.random(700),
        }
    )
    frame = as_results(rows)
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=0)
    one, other = (compare_with_best(f, [])["mean"][0] for f in (frame, shuffled))
    assert one == other == pytest.approx(np.abs(rows["p_hat"].to_numpy() - 0.5).mean())
