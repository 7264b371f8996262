import numpy as np
import pytest

from quantshift.classify.posteriors import check_posteriors
from quantshift.errors import DataError


@pytest.mark.parametrize("n_classes", [2, 3, 7, 8, 10, 16, 28, 128, 129])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_are_divided_by_their_sums_as_numpy_does(n_classes: int, order: str) -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(n_classes), 50)
    p = np.asarray(np.round(p * 1.0001, 7), order=order)
    assert (check_posteriors(p) == p / p.sum(axis=1, keepdims=True)).all()


@pytest.mark.parametrize("n_classes", [3, 7, 10, 129])
def test_rows_that_were_normalised_are_not_divided_again(n_classes: int) -> None:
    """Whatever other rows there are, so that estimates do not depend on the rest of a pool."""
    p = np.random.default_rng(0).dirichlet(np.ones(n_classes), 500)
    p /= p.sum(axis=1, keepdims=True)
    assert (p.sum(axis=1) != 1).any()
    assert (check_posteriors(p) == p).all()
    p[0] *= 1.0001
    assert (check_posteriors(p)[1:] == p[1:]).all()
    assert check_posteriors(p)[0].sum() == pytest.approx(1, abs=1e-14)


def test_rows_that_sum_to_one_stay_as_they_are() -> None:
    p = np.array([[0.25, 0.75], [1.0, 0.0]])
    assert (check_posteriors(p) == p).all()
    p.flags.writeable = False  # as of a mapped file
    assert (check_posteriors(p) == p).all()


@pytest.mark.parametrize("n_classes", [3, 8, 20])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -0.1, 2.0])
def test_a_bad_number_is_found_in_any_column(n_classes: int, bad: float) -> None:
    for column in range(n_classes):
        p = np.full((20, n_classes), 1 / n_classes)
        p[17, column] = bad
        with pytest.raises(DataError, match="posteriors of item 17"):
            check_posteriors(p)


@pytest.mark.parametrize("row", [[0.5, 0.6], [-0.1, 1.1], [np.nan, 1.0], [np.inf, 0.0]])
def test_the_first_bad_row_is_named(row: list[float]) -> None:
    good = np.full((5, 2), 0.5)
    good[3] = row
    with pytest.raises(DataError, match="posteriors of item 3"):
        check_posteriors(good)
