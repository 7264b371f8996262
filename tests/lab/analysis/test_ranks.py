import numpy as np
import polars as pl
import pytest

from quantshift.errors import DataError, UserError
from quantshift.lab.analysis.ranks import critical_difference, mean_ranks, rank_datasets


def test_ranks_of_methods_in_a_fixed_order(outcomes):
    ranked = mean_ranks(outcomes({"A": 0.3, "B": 0.1, "C": 0.2}, train_repeats=10))
    assert ranked.methods == ("B", "C", "A")
    assert ranked.ranks == (1.0, 2.0, 3.0)
    assert ranked.blocks == 10
    # All blocks agree: chi2 = N (k - 1).
    assert ranked.chi2 == pytest.approx(20)
    assert ranked.p_value == pytest.approx(np.exp(-10))
    assert ranked.frame().rows() == [("B", 1.0), ("C", 2.0), ("A", 3.0)]


def test_equal_methods_share_a_rank_and_a_group(outcomes):
    frame = outcomes({"A": 0.1, "B": 0.1, "C": 0.2}, train_repeats=10)
    ranked = mean_ranks(frame)
    assert ranked.ranks == (1.5, 1.5, 3.0)
    assert ranked.groups == (("A", "B"),)


def test_all_equal_is_no_evidence(outcomes):
    ranked = mean_ranks(outcomes({"A": 0.1, "B": 0.1}))
    assert (ranked.chi2, ranked.p_value) == (0.0, 1.0)


def test_groups_are_maximal_runs_below_the_critical_difference(outcomes):
    # With two blocks the critical difference of four methods is 3.32: only the whole span exceeds.
    ranked = mean_ranks(outcomes({"A": 0.1, "B": 0.2, "C": 0.3, "D": 0.4}, train_repeats=2))
    assert ranked.critical_difference == pytest.approx(3.317, abs=0.001)
    assert ranked.groups == (("A", "B", "C", "D"),)
    many = mean_ranks(outcomes({"A": 0.1, "B": 0.2, "C": 0.3, "D": 0.4}, train_repeats=10))
    assert many.critical_difference == pytest.approx(1.483, abs=0.001)
    assert many.groups == (("A", "B"), ("B", "C"), ("C", "D"))


@pytest.mark.parametrize(
    # q_alpha of Demsar (2006), table 5a, two-tailed Nemenyi test.
    ("k", "q05", "q10"),
    [(2, 1.960, 1.645), (3, 2.343, 2.052), (5, 2.728, 2.459), (9, 3.102, 2.855)],
)
def test_critical_difference_of_the_published_table(k, q05, q10):
    scale = np.sqrt(k * (k + 1) / 6)
    assert critical_difference(k, 1) / scale == pytest.approx(q05, abs=0.0011)
    assert critical_difference(k, 1, alpha=0.1) / scale == pytest.approx(q10, abs=0.0011)


def test_blocks_without_all_methods_are_left_out_and_counted(outcomes):
    frame = outcomes({"A": 0.3, "B": 0.1}, train_repeats=5)
    lacking = frame.filter((pl.col("method") == "A") | (pl.col("train_repeat") > 1))
    ranked = mean_ranks(lacking)
    assert (ranked.blocks, ranked.dropped) == (3, 2)


@pytest.mark.parametrize(
    ("methods", "train_repeats", "message"),
    [({"A": 0.1}, 5, "at least two methods"), ({"A": 0.1, "B": 0.1}, 1, "at least two blocks")],
)
def test_too_little_to_rank(outcomes, methods, train_repeats, message):
    with pytest.raises(DataError, match=message):
        mean_ranks(outcomes(methods, train_repeats=train_repeats))


def test_the_method_that_is_missing_is_named(outcomes):
    frame = outcomes({"A": 0.1, "B": 0.1, "C": 0.1}, train_repeats=3)
    lacking = frame.filter((pl.col("method") != "C") | (pl.col("train_repeat") == 0))
    with pytest.raises(DataError, match="C is missing most often"):
        mean_ranks(lacking)


def test_wrong_options(outcomes):
    frame = outcomes({"A": 0.1, "B": 0.2})
    with pytest.raises(UserError, match="between 0 and 1"):
        mean_ranks(frame, alpha=5)
    with pytest.raises(UserError, match="at least one column"):
        mean_ranks(frame, [])
    with pytest.raises(UserError, match="leave 'method' out"):
        mean_ranks(frame, ["method"])


def test_data_sets_are_blocks(outcomes):
    orders = [{"A": 0.1, "B": 0.2, "C": 0.3}] * 3 + [{"A": 0.2, "B": 0.1, "C": 0.3}]
    frames = [outcomes(errors, dataset=f"d{i}") for i, errors in enumerate(orders)]
    ranked = rank_datasets(pl.concat(frames))
    assert (ranked.methods, ranked.ranks) == (("A", "B", "C"), (1.25, 1.75, 3.0))
    assert ranked.blocks == 4
    with pytest.raises(DataError, match="at least two blocks"):
        rank_datasets(frames[0])


def test_a_data_set_in_which_a_method_lacks_training_sets_is_left_out(outcomes):
    frames = [outcomes({"A": 0.1, "B": 0.2}, dataset=f"d{i}") for i in range(3)]
    whole = pl.concat(frames)
    failed = (pl.col("dataset") == "d0") & (pl.col("method") == "A") & (pl.col("train_repeat") == 0)
    ranked = rank_datasets(whole.filter(~failed))
    assert (ranked.blocks, ranked.dropped) == (2, 1)
