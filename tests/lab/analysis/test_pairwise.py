import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from quantshift.errors import UserError
from quantshift.lab.analysis import compare_all_pairs
from quantshift.lab.analysis.pairwise import against, compare_columns
from quantshift.lab.analysis.training_sets import against_best
from quantshift.statistics.multiple_tests import holm


def errors_of(blocks=12, methods=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.gamma(2, 0.02, (blocks, 1)) + rng.gamma(2, 0.01, (blocks, methods))


def test_every_pair_is_tested_as_by_scipy():
    errors = errors_of()
    pairs = compare_columns(errors, "ABCD", range(12))
    assert pairs.select("method", "other").rows() == [
        *(("A", "B"), ("A", "C"), ("A", "D"), ("B", "C"), ("B", "D"), ("C", "D"))
    ]
    for row in pairs.iter_rows(named=True):
        difference = errors[:, "ABCD".index(row["method"])] - errors[:, "ABCD".index(row["other"])]
        test = stats.wilcoxon(difference, method="exact")
        assert row["p_value"] == pytest.approx(test.pvalue, rel=1e-12)
        assert (row["wins"], row["ties"], row["losses"]) == (
            (difference < 0).sum(),
            0,
            (difference > 0).sum(),
        )
        # The rank-biserial correlation as a sum over pairs of Walsh averages.
        walsh = [(x + y) / 2 for i, x in enumerate(difference) for y in difference[i:]]
        assert row["effect"] == pytest.approx(-np.sign(walsh).mean())
        assert row["difference"] == pytest.approx(difference.mean())
    assert pairs["p_holm"].to_list() == holm(pairs["p_value"].to_numpy())


def test_a_method_that_is_better_everywhere():
    errors = np.array([[0.1, 0.2 + 0.01 * i] for i in range(7)])
    (row,) = compare_columns(errors, "AB", range(7)).iter_rows(named=True)
    assert (row["wins"], row["losses"], row["effect"]) == (7, 0, 1.0)
    assert row["p_value"] == row["p_holm"] == 2 / 2**7


def test_columns_of_a_block_are_one_observation_of_what_both_have():
    errors = np.array([[0.1, 0.2], [0.4, 0.2], [0.1, math.nan], [math.nan, math.nan]])
    (row,) = compare_columns(errors, "AB", ["x", "x", "x", "y"]).iter_rows(named=True)
    assert (row["blocks"], row["losses"]) == (1, 1)
    assert row["difference"] == pytest.approx(0.05)


def test_methods_without_a_common_block_are_not_tested():
    errors = np.array([[0.1, math.nan, 0.3], [math.nan, 0.2, 0.1]])
    pairs = compare_columns(errors, "ABC", "xy")
    assert pairs["blocks"].to_list() == [0, 1, 1]
    assert pairs["p_value"].to_list() == [None, 1.0, 1.0]
    assert pairs["p_holm"].to_list() == [None, 1.0, 1.0]


def test_against_one_method_corrects_for_its_pairs_alone():
    pairs = compare_columns(errors_of(seed=3), "ABCD", range(12))
    chosen = against(pairs, "C")
    assert chosen["method"].to_list() == ["C"] * 3
    assert chosen["other"].to_list() == ["A", "B", "D"]
    turned = pairs.filter((pl.col("method") == "A") & (pl.col("other") == "C")).row(0, named=True)
    first = chosen.row(0, named=True)
    assert (first["wins"], first["losses"]) == (turned["losses"], turned["wins"])
    assert (first["effect"], first["difference"]) == (-turned["effect"], -turned["difference"])
    assert chosen["p_holm"].to_list() == holm(chosen["p_value"].to_numpy())
    with pytest.raises(UserError, match="unknown method 'E'"):
        against(pairs, "E")


def test_a_frame_of_results(outcomes):
    frames = [
        outcomes({"A": 0.1 + 0.01 * i, "B": 0.3}).with_columns(dataset=pl.lit(f"d{i}"))
        for i in range(6)
    ]
    (row,) = compare_all_pairs(pl.concat(frames)).iter_rows(named=True)
    assert (row["method"], row["blocks"], row["wins"]) == ("A", 6, 6)
    assert row["p_value"] == 2 / 2**6


def test_against_the_best_on_training_sets_is_a_paired_t_test():
    means = errors_of(blocks=8, methods=5, seed=1)
    means[:, 3] -= 0.005
    best = int(means.mean(axis=0).argmin())
    found = against_best(means, may_be_best=np.ones(5, dtype=bool))
    others = [i for i in range(5) if i != best]
    expected = holm([stats.ttest_rel(means[:, i], means[:, best]).pvalue for i in others])
    assert math.isnan(found[best])
    np.testing.assert_allclose(found[others], expected, rtol=1e-10)


def test_who_can_be_the_best_and_who_is_compared():
    means = errors_of(blocks=5, methods=4, seed=2)
    means[:, 0] = 0.0  # a baseline that must not be the best
    means[2, 1] = math.nan
    found = against_best(means, may_be_best=np.array([False, True, True, True]))
    assert np.isnan(found).tolist() == [False, True, *np.isnan(found[2:])]
    assert np.isnan(found[2:]).sum() == 1
    equal = np.repeat(means[:, [2]], 2, axis=1)
    both = np.ones(2, dtype=bool)
    np.testing.assert_array_equal(against_best(equal, may_be_best=both), [math.nan, 1.0])
    assert np.isnan(against_best(means[:2], may_be_best=np.ones(4, dtype=bool))).all()
    assert np.isnan(against_best(means, may_be_best=np.zeros(4, dtype=bool))).all()
