"""Options that several commands have."""

import pytest

from quantshift.answers.options import AmountOptions


@pytest.mark.parametrize(
    ("precision", "n_labels", "target"),
    [(None, None, 0.05), (0.03, None, 0.03), (None, 100, None), (0.03, 100, 0.03)],
)
def test_without_a_number_of_labels_a_precision_is_reached(precision, n_labels, target):
    assert AmountOptions(precision, n_labels).target == target
