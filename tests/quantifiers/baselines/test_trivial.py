from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from quantshift import MLPE

POSTERIORS, Y = np.full((10, 2), 0.5), [0] * 7 + [1] * 3
PRIOR = [0.7, 0.3]


@pytest.fixture
def mlpe() -> MLPE:
    return MLPE().fit_posteriors(POSTERIORS, Y)


def test_every_way_to_call_it_gives_the_training_prevalence(mlpe: MLPE) -> None:
    for posteriors in (POSTERIORS, POSTERIORS.tolist(), POSTERIORS.astype(np.float32)):
        assert_array_equal(mlpe.aggregate(posteriors), PRIOR)
    assert_array_equal(mlpe.aggregate(POSTERIORS, [[0, 1], [2]]), [PRIOR] * 2)
    assert_array_equal(mlpe.aggregate(POSTERIORS, sample_weight=np.arange(10)), PRIOR)
    assert_array_equal(mlpe.aggregate(np.stack([POSTERIORS] * 3)), [PRIOR] * 3)


def test_values_are_not_read(mlpe: MLPE) -> None:
    unread = np.full((10, 2), np.nan)
    assert_array_equal(mlpe.aggregate(unread), PRIOR)
    assert_array_equal(mlpe.aggregate(unread, [[0, 1]]), [PRIOR])


@pytest.mark.parametrize(
    "posteriors",
    [
        np.full((0, 2), 0.5),
        np.full((4, 3), 1 / 3),
        np.ones((4, 1)),
        np.ones(2),
        np.array([["a", "b"]]),
        np.ma.masked_array([[0.5, 0.5]], [[True, False]]),
        [[0.5, 0.5], [1.0]],
    ],
)
def test_wrong_shapes_and_types_are_refused(mlpe: MLPE, posteriors: Any) -> None:
    with pytest.raises(ValueError, match=r"posteriors|sample|missing|masked"):
        mlpe.aggregate(posteriors)


def test_positions_outside_the_pool_are_refused(mlpe: MLPE) -> None:
    with pytest.raises(ValueError, match="names items"):
        mlpe.aggregate(POSTERIORS, np.array([[0, 10]]))


def test_it_must_be_fitted_and_returns_a_copy(mlpe: MLPE) -> None:
    with pytest.raises(NotFittedError):
        MLPE().aggregate(POSTERIORS)
    mlpe.aggregate(POSTERIORS)[:] = 0.0
    assert_array_equal(mlpe.aggregate(POSTERIORS), PRIOR)
