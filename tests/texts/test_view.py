import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from quantshift.texts.view import MatrixView

DENSE = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [4.0, 0.0, 0.5]])


@pytest.mark.parametrize("matrix", [DENSE, csr_array(DENSE)], ids=["dense", "sparse"])
def test_rows_and_scores_of_a_matrix(matrix):
    view = MatrixView(matrix)
    rows = np.array([2, 0, 2])
    taken = view.transform(rows)
    taken = taken if isinstance(taken, np.ndarray) else taken.toarray()
    assert_allclose(taken, DENSE[rows])
    coef = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, -1.0]])
    scores = view.scores(rows, coef, [0.5, -0.5])
    assert isinstance(scores, np.ndarray)
    assert_allclose(scores, DENSE[rows] @ coef + [0.5, -0.5])
