"""Tests of tables, against SciPy."""

import numpy as np
import pytest
from scipy import stats

from quantshift.statistics.contingency import ChiSquare, chi_square, fisher_p_value


def made(n_tables):
    rng = np.random.default_rng(3)
    for _ in range(n_tables):
        table = rng.integers(0, rng.choice([3, 10, 40, 300, 3000]), (2, 2))
        if rng.random() < 0.3:  # probabilities that are equal
            table[1] = table[0][:: rng.choice([-1, 1])]
        if table.sum(axis=0).all() and table.sum(axis=1).all():
            yield table


def test_fisher_is_scipys():
    for table in made(300):
        expected = float(stats.fisher_exact(table).pvalue)
        assert fisher_p_value(table) == pytest.approx(expected, rel=1e-11, abs=1e-290), table


def test_fisher_of_an_empty_row_says_nothing():
    assert fisher_p_value([[0, 0], [3, 4]]) == 1


def test_chi_square_is_scipys():
    rng = np.random.default_rng(4)
    for _ in range(50):
        table = rng.integers(1, 60, (rng.integers(2, 4), rng.integers(2, 7)))
        found, expected = chi_square(table), stats.chi2_contingency(table, correction=False)
        assert found.freedom == expected.dof
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-12, abs=1e-12)
        assert found.p_value == pytest.approx(expected.pvalue, rel=1e-11)


def test_without_freedom_nothing_is_refuted():
    assert ChiSquare(0.0, 0).p_value == 1
