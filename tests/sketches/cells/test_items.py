import numpy as np
import pytest

from quantshift.sketches.cells.items import JointCounts, spread_items
from quantshift.sketches.cells.score import WIDE


def one_sample(n_classes: int = 3, n: int = 3000) -> tuple[JointCounts, np.ndarray]:
    """A sample whose joint part is a single cell, and its rows."""
    rows = np.random.default_rng(1).dirichlet([0.6] * n_classes, n)

    def counted(values):
        cell, numbers = np.unique(WIDE.of(values), return_counts=True)
        return cell, numbers

    winner = rows.argmax(axis=1)
    joint = JointCounts(
        rows.mean(axis=0)[np.newaxis],
        np.array([float(n)]),
        covariances=np.cov(rows.T, bias=True)[np.newaxis],
        largest=np.array([int(rows.mean(axis=0).argmax())]),
        marginals=[counted(rows[:, k]) for k in range(n_classes)],
        predicted=[counted(rows[winner == k, k]) for k in range(n_classes)],
        expected=counted(rows @ np.arange(n_classes) / (n_classes - 1)),
    )
    return joint, rows


def share_below(scores, weights, border):
    return weights[scores < border].sum() / weights.sum()


@pytest.mark.parametrize("border", [0.0301, 0.2, 0.45, 0.501, 0.9])
def test_items_class_by_class_are_on_the_right_side_of_borders(border):
    joint, rows = one_sample()
    items = joint.class_by_class(32)
    for k in range(3):
        found = share_below(items.posteriors[:, k], items.weights, border)
        # A cell in the middle is 1/4096 wide and has about one of 3,000 rows.
        assert found == pytest.approx((rows[:, k] < border).mean(), abs=1.5 / len(rows))


def test_items_by_prediction_have_it_and_the_posterior_of_the_predicted_class():
    joint, rows = one_sample()
    items = joint.by_prediction(8)
    winner, found = rows.argmax(axis=1), items.posteriors.argmax(axis=1)
    for k in range(3):
        assert items.weights[found == k].sum() == pytest.approx((winner == k).sum())
        scores = items.posteriors[found == k, k]
        expected = (rows[winner == k, k] < 0.7).mean()
        # As above, of a third of the rows.
        assert share_below(scores, items.weights[found == k], 0.7) == pytest.approx(
            expected, abs=3e-3
        )


def test_items_by_expected_class_have_it():
    joint, rows = one_sample()
    items = joint.by_expected_class(8)
    assert items.posteriors.sum(axis=1) == pytest.approx(1.0)
    place = items.posteriors @ [0, 0.5, 1]
    found = share_below(place, items.weights, 0.3)
    assert found == pytest.approx((rows @ [0, 0.5, 1] < 0.3).mean(), abs=1.5 / len(rows))


def test_where_the_spread_is_nothing_items_are_at_the_mean():
    mean = np.array([[0.7, 0.2, 0.1]])
    items = spread_items(mean, np.zeros((1, 3, 3)), np.array([5.0]))
    assert items.weights.sum() == pytest.approx(5)
    np.testing.assert_allclose(items.posteriors, np.repeat(mean, 4, axis=0), atol=1e-14)
