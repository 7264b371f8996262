import numpy as np
import polars as pl
import pytest

from quantshift import metrics
from quantshift.errors import DataError, UserError
from quantshift.lab.analysis import bias_by_class, with_errors
from tests.outcomes import vector_outcomes


def test_absolute_error_and_its_sign(outcomes):
    frame = with_errors(outcomes({"high": 0.1, "low": -0.2}))
    rows = frame.group_by("method").agg(pl.col("error", "signed").mean()).sort("method")
    assert rows["method"].to_list() == ["high", "low"]
    np.testing.assert_allclose(rows["error"], [0.1, 0.2])
    np.testing.assert_allclose(rows["signed"], [0.1, -0.2])


@pytest.mark.parametrize("name", metrics.MEASURES)
def test_every_measure_is_that_of_metrics(outcomes, name):
    frame = outcomes({"a": 0.1, "b": 0.02}, noise=0.01)
    expected = metrics.measure(
        name,
        np.array(frame["p_true"].to_list()),
        np.array(frame["p_hat"].to_list()),
        smoothing=1 / 1000,
    )
    np.testing.assert_allclose(with_errors(frame, measure=name)["error"], expected)


def test_smoothing_can_be_chosen(outcomes):
    frame = outcomes({"a": 0.1})
    default = with_errors(frame, measure="kld")["error"]
    assert with_errors(frame, measure="kld", smoothing=0.001)["error"].to_list() == (
        default.to_list()
    )
    assert with_errors(frame, measure="kld", smoothing=0.1)["error"][0] < default[0]


def test_unknown_measure_names_the_nearest(outcomes):
    with pytest.raises(UserError, match="unknown error measure 'rea'; did you mean 'rae'"):
        with_errors(outcomes({"a": 0.1}), measure="rea")


def test_no_results_are_refused(outcomes):
    with pytest.raises(DataError, match="no results to analyse"):
        with_errors(outcomes({"a": 0.1}).clear())


def test_missing_columns_are_named(outcomes):
    with pytest.raises(UserError, match="unknown result column 'p_hat'"):
        with_errors(outcomes({"a": 0.1}).drop("p_hat"))


def test_estimates_that_are_no_numbers_are_refused(outcomes):
    frame = outcomes({"a": 0.1})
    for wrong in ([0.5, float("nan")], [0.5, None]):
        with pytest.raises(DataError, match="p_hat must be finite"):
            with_errors(frame.with_columns(p_hat=pl.Series([wrong] * len(frame))))


def test_estimates_without_a_number_for_every_class_are_refused(outcomes):
    frame = outcomes({"a": 0.1})
    for wrong in ([1.0], [0.2, 0.3, 0.5], None):
        lists = pl.Series([wrong] * len(frame), dtype=pl.List(pl.Float64))
        with pytest.raises(DataError, match="a number for every class"):
            with_errors(frame.with_columns(p_hat=lists))


def test_one_number_in_place_of_a_list_is_refused(outcomes):
    frame = outcomes({"a": 0.1}).with_columns(pl.col("p_hat").list.last())
    with pytest.raises(DataError, match="p_hat must hold a list in every row"):
        with_errors(frame)


@pytest.mark.parametrize("name", metrics.MEASURES)
def test_data_sets_with_different_numbers_of_classes(outcomes, name):
    two = outcomes({"a": 0.1, "b": 0.02}, noise=0.01)
    five = vector_outcomes({"a": 0.05, "b": 0.01}, n_classes=5)
    both = pl.concat([two, five], how="diagonal").sample(fraction=1.0, shuffle=True, seed=0)
    scored = with_errors(both, measure=name)
    for n_classes in (2, 5):
        own = scored.filter(pl.col("p_true").list.len() == n_classes)
        expected = metrics.measure(
            name,
            np.array(own["p_true"].to_list()),
            np.array(own["p_hat"].to_list()),
            smoothing=1 / 1000,
        )
        np.testing.assert_array_equal(own["error"], expected)
        assert own["signed"].null_count() == (0 if n_classes == 2 else len(own))


def test_bias_of_each_class(outcomes):
    many = vector_outcomes({"a": 0.1, "b": -0.05}, noise=0.0)
    biases = bias_by_class(many, ["method"])
    assert biases.select("method", "class").rows() == [(m, k) for m in "ab" for k in range(3)]
    np.testing.assert_allclose(biases["bias"], [-0.1, 0, 0.1, 0.05, 0, -0.05], atol=1e-12)
    # A data set of two classes has no third.
    both = pl.concat([many, outcomes({"a": 0.2})], how="diagonal")
    by_dataset = bias_by_class(both, ["dataset", "method"])
    assert by_dataset.group_by("dataset", "method").len().sort("dataset", "method").rows() == [
        ("letters", "a", 3),
        ("letters", "b", 3),
        ("reviews", "a", 2),
    ]
    binary = by_dataset.filter(pl.col("dataset") == "reviews")["bias"]
    np.testing.assert_allclose(binary, [-0.2, 0.2])
