import numpy as np
import polars as pl
import pytest

from quantshift import metrics, prevalence
from quantshift.analysis.errors import MEASURES, with_errors
from quantshift.errors import DataError, UserError


def test_absolute_error_and_its_sign(outcomes):
    frame = with_errors(outcomes({"high": 0.1, "low": -0.2}))
    rows = frame.group_by("method").agg(pl.col("error", "signed").mean()).sort("method")
    assert rows["method"].to_list() == ["high", "low"]
    np.testing.assert_allclose(rows["error"], [0.1, 0.2])
    np.testing.assert_allclose(rows["signed"], [0.1, -0.2])


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_is_that_of_metrics_on_binary_prevalences(outcomes, name):
    frame = outcomes({"a": 0.1, "b": 0.02}, noise=0.01)
    expected = metrics.measure(
        name,
        prevalence.of_positive(frame["p_true"]),
        prevalence.of_positive(frame["p_hat"]),
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
    frame = outcomes({"a": 0.1}).with_columns(p_hat=pl.lit(float("nan")))
    with pytest.raises(DataError, match="finite"):
        with_errors(frame)
