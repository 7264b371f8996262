"""Statistics against scipy."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from quantshift.lab.analysis.paired import wilcoxon
from quantshift.lab.analysis.ranks import critical_difference, mean_ranks
from quantshift.lab.paper import against_published, published_tables
from quantshift.lab.paper.setups import PRIOR
from quantshift.statistics.multiple_tests import holm

# Hundredths, so that zeros and ties are many.
DIFFERENCES = st.lists(st.integers(-20, 20), min_size=1, max_size=120)


@given(DIFFERENCES)
def test_wilcoxon_with_zeros_and_ties(values):
    difference = np.array(values) / 100
    if not difference.any():
        assert wilcoxon(difference) == 1.0
        return
    nonzero = np.abs(difference[difference != 0])
    untied = np.unique(nonzero).size == nonzero.size
    expected = stats.wilcoxon(
        difference[difference != 0] if untied else difference,
        zero_method="wilcox",
        correction=False,
        method="exact" if untied and nonzero.size <= 50 else "asymptotic",
    )
    assert wilcoxon(difference) == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("shift", [0.0, 0.01, 0.2])
def test_wilcoxon_of_many_pairs(shift):
    difference = np.random.default_rng(0).normal(shift, 1, 5000)
    expected = stats.wilcoxon(difference, method="asymptotic").pvalue
    assert wilcoxon(difference) == pytest.approx(expected, rel=1e-6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_rejects_what_the_step_down_procedure_rejects(values):
    p_values = np.array(values)
    adjusted = np.array(holm(p_values))
    assert (adjusted >= p_values).all()
    for alpha in (0.001, 0.05, 0.5):
        rejected = np.zeros(len(p_values), dtype=bool)
        for step, position in enumerate(np.argsort(p_values, kind="stable")):
            if p_values[position] * (len(p_values) - step) > alpha:
                break
            rejected[position] = True
        np.testing.assert_array_equal(adjusted <= alpha, rejected)


@given(st.integers(3, 6), st.integers(2, 15), st.integers(0, 2**32 - 1))
def test_friedman_with_ties(k, n, seed):
    errors = np.random.default_rng(seed).integers(0, 4, (n, k)) / 10
    frame = pl.DataFrame(
        {
            "method": [f"M{column}" for _ in range(n) for column in range(k)],
            "block": [row for row in range(n) for _ in range(k)],
            "error": errors.ravel(),
            "signed": errors.ravel(),
        }
    )
    ranked = mean_ranks(frame, ["block"])
    ranks = stats.rankdata(errors, axis=1)
    expected = dict(zip([f"M{c}" for c in range(k)], ranks.mean(axis=0), strict=True))
    assert dict(zip(ranked.methods, ranked.ranks, strict=True)) == pytest.approx(expected)
    if (ranks == ranks[0, 0]).all():
        assert ranked.chi2 == 0.0
        return
    statistic, p_value = stats.friedmanchisquare(*errors.T)
    assert ranked.chi2 == pytest.approx(statistic)
    assert ranked.p_value == pytest.approx(p_value)


def test_critical_difference_is_the_quantile_of_the_range_of_normals():
    rng = np.random.default_rng(1)
    ranges = np.ptp(rng.normal(size=(200_000, 6)), axis=1)
    q = np.quantile(ranges, 0.95) / np.sqrt(2)
    assert critical_difference(6, 10) == pytest.approx(q * np.sqrt(6 * 7 / 60), rel=0.01)


def test_rank_correlation_is_spearmans():
    # Our errors are theirs with a twist, so that some rows agree and others do not.
    theirs = published_tables().filter(pl.col("setup") == PRIOR)
    rng = np.random.default_rng(0)
    ours = theirs.with_columns(ours=pl.Series(np.round(rng.permutation(theirs["mae"]), 3)))
    frame = ours.select(
        pl.lit("prior").alias("experiment"),
        pl.lit("prior").alias("shift"),
        pl.lit("reviews").alias("dataset"),
        pl.lit("c").alias("cell"),
        pl.lit("").alias("facet"),
        "method",
        "degree",
        pl.col("degree").rank("dense").cast(pl.Int32).alias("sample"),
        pl.lit(500).alias("size"),
        pl.lit([1.0, 0.0]).alias("p_true"),
        pl.concat_list(1 - pl.col("ours"), "ours").alias("p_hat"),
    )
    compared = against_published(frame).drop_nulls("ours")
    assert len(compared) == len(theirs)
    for _, row in compared.group_by("degree"):
        expected = stats.spearmanr(row["ours"], row["theirs"]).statistic
        assert row["spearman"][0] == pytest.approx(expected)


@pytest.mark.parametrize("n", [1, 2, 7, 20, 50])
def test_exact_p_values_have_the_same_bits_as_scipy(n):
    rng = np.random.default_rng(n)
    for shift in (-0.5, 0.0, 0.2, 3.0):
        difference = np.round(rng.normal(shift, 1, n), 10)
        assert wilcoxon(difference) == stats.wilcoxon(difference, method="exact").pvalue
