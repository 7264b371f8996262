"""The four published tables of the paper: complete, and ours beside them."""

import polars as pl
import pytest

from quantshift.lab.analysis import PAPER_METHODS
from quantshift.lab.paper import against_published, published_tables
from quantshift.lab.paper.setups import MIXED, PRIOR, PURE
from tests.outcomes import make_outcomes

ERRORS = dict(zip(PAPER_METHODS, (0.4, 0.1, 0.5, 0.08, 0.06, 0.05), strict=True))


def test_the_published_tables_are_complete():
    tables = published_tables()
    sizes = dict(tables.group_by("setup").len().iter_rows())
    assert sizes == {PRIOR: 21 * 6, PURE: 63 * 6, MIXED: 126 * 6}
    assert set(tables["method"]) == set(PAPER_METHODS)
    assert tables["mae"].is_between(0, 1).all()
    assert set(tables["mark"]) == {"", "best", "dag", "ddag"}


def test_every_published_row_has_one_best_of_the_least_error():
    rows = published_tables().group_by("setup", "p_train", "p_test", "degree")
    best = rows.agg(
        n=(pl.col("mark") == "best").sum(),
        least=pl.col("mae").filter(pl.col("mark") == "best").min() == pl.col("mae").min(),
    )
    assert best["n"].to_list() == [1] * 210
    assert best["least"].all()


def test_a_few_published_numbers():
    tables = published_tables()
    prior = tables.filter((pl.col("setup") == PRIOR) & (pl.col("degree") == -0.9))
    assert dict(prior.select("method", "mae").iter_rows()) == {
        "CC": 0.479,
        "ACC": 0.049,
        "PCC": 0.439,
        "PACC": 0.044,
        "DyS": 0.053,
        "SLD": 0.041,
    }


def test_ours_stands_beside_theirs():
    frame = make_outcomes(
        {**ERRORS, "HDy": 0.001},
        points=[{"p_train": 0.5, "p_test": 0.1, "degree": 0.1 - 0.5}],
    )
    compared = against_published(frame)
    assert len(compared) == len(published_tables())
    row = compared.filter((pl.col("setup") == PRIOR) & (pl.col("degree") == -0.4))
    assert row["method"].to_list() == list(PAPER_METHODS)
    assert row["ours"].to_list() == pytest.approx(list(ERRORS.values()))
    assert row["theirs"].to_list() == [0.126, 0.071, 0.115, 0.031, 0.024, 0.023]
    assert row["difference"][0] == pytest.approx(0.4 - 0.126)
    # Theirs: CC before PCC; ours the other way round. One swap of neighbours among six ranks.
    assert row["spearman"].to_list() == pytest.approx([1 - 6 * 2 / (6 * 35)] * 6)
    # HDy is not in the published tables and does not take the mark of the best away.
    assert row.filter(pl.col("our_mark") == "best")["method"].to_list() == ["SLD"]
    others = compared.filter((pl.col("setup") != PRIOR) | (pl.col("degree") != -0.4))
    assert others["ours"].null_count() == len(others)
    assert others["spearman"].null_count() == len(others)


def test_covariate_rows_find_their_prevalences():
    point = {"p_train": 0.25, "p_test": 0.75, "alpha_train": 0.0, "alpha_test": 0.3}
    frame = make_outcomes(ERRORS, experiment="covariate", points=[{**point, "degree": -0.3}])
    ours = against_published(frame).drop_nulls("ours")
    assert ours.select("setup", "p_train", "p_test", "degree").unique().rows() == [
        (MIXED, 0.25, 0.75, -0.3)
    ]
    assert len(ours) == 6


def test_two_methods_have_no_rank_correlation():
    frame = make_outcomes(
        {"CC": 0.1, "SLD": 0.2}, points=[{"p_train": 0.5, "p_test": 0.5, "degree": 0}]
    )
    ours = against_published(frame).drop_nulls("ours")
    assert ours["method"].to_list() == ["CC", "SLD"]
    assert ours["spearman"].to_list() == [None, None]


def test_without_the_papers_methods_all_is_missing():
    assert against_published(make_outcomes({"Mine": 0.1}))["ours"].null_count() == 1260
