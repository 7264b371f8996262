import polars as pl
import pytest

from quantshift.analysis import worst_estimates
from quantshift.errors import DataError, UserError
from tests.outcomes import shifted


@pytest.fixture
def frame(outcomes):
    rows = outcomes({"ACC": 0.0, "CC": 0.5}, train_repeats=10, repeats=1)
    # The error grows with the repetition; the last three are clipped, the last six unseparated.
    repeat, true = pl.col("train_repeat"), pl.col("p_true").list.last()
    return rows.with_columns(
        p_hat=pl.concat_list(1 - true - repeat / 100, true + repeat / 100),
        clipped=pl.when(pl.col("method") == "ACC").then(repeat >= 7),
        separation=pl.when(repeat >= 4).then(0.04).otherwise(0.05),
        fallback=repeat == 9,
    )


def test_shares_among_the_worst(frame):
    worst = worst_estimates(frame, n=5)
    assert worst.n == 5
    assert worst.rows["train_repeat"].to_list() == [9, 8, 7, 6, 5]
    assert worst.least_error == pytest.approx(0.05)
    assert worst.share_clipped == pytest.approx(3 / 5)
    assert worst.share_unseparated == 1.0
    assert worst.share_fallback == pytest.approx(1 / 5)


def test_separation_at_the_limit_is_not_below_it(frame):
    assert worst_estimates(frame, n=100).share_unseparated == pytest.approx(6 / 10)


def test_fewer_estimates_than_asked_for(frame):
    assert worst_estimates(frame, n=100).n == 10


def test_methods_without_the_diagnostic_have_no_share(frame):
    assert worst_estimates(frame, method="CC").share_clipped is None


def test_the_order_of_rows_does_not_matter(frame):
    tied = frame.with_columns(pl.col("p_true").alias("p_hat")).with_columns(shifted(0.1))
    shuffled = tied.sample(fraction=1.0, shuffle=True, seed=2)
    assert worst_estimates(tied, n=4).rows.equals(worst_estimates(shuffled, n=4).rows)


def test_missing_results(frame):
    with pytest.raises(DataError, match=r"no results of method 'SLD'$"):
        worst_estimates(frame, method="SLD")
    with pytest.raises(DataError, match="no results of method 'ACC' in part 'local'"):
        worst_estimates(frame, part="local")
    with pytest.raises(UserError, match="at least one estimate"):
        worst_estimates(frame, n=0)
