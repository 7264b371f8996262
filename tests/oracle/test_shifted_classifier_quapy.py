"""QuaPy's LabelShiftedClassifier, where the two must agree.

QuaPy fits the classifier again with class weights; `ShiftedClassifier` corrects its posteriors. For
a saturated logistic model (an indicator for every cell of one category) both are exact: class
weights multiply the odds of every cell.
"""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from quantshift import SLD
from quantshift.measuring import Correction

labelshift = pytest.importorskip("quapy.classification.labelshift")


class Known:
    """A quantifier of QuaPy's interface that returns a known prevalence."""

    def __init__(self, prevalence):
        self.prevalence = np.array(prevalence)

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.prevalence


@pytest.mark.parametrize("prevalence", [[0.9, 0.1], [0.2, 0.8]])
def test_class_weights_and_corrections_are_the_same_where_both_are_exact(prevalence):
    rng = np.random.default_rng(0)
    cells, y = rng.integers(4, size=4000), np.zeros(4000, dtype=int)
    y[rng.random(4000) < np.array([0.1, 0.3, 0.6, 0.9])[cells]] = 1
    X = np.eye(4)[cells]
    learner = LogisticRegression(C=1e8, max_iter=10_000, tol=1e-10)
    theirs = labelshift.LabelShiftedClassifier(learner, Known(prevalence)).fit(X, y)
    plain = SLD(learner, calibration="none").fit(X, y)
    raw = plain.classifier_.predict_proba(np.eye(4))
    ours = Correction(plain.prior_, np.array(prevalence))(raw)
    np.testing.assert_allclose(ours, theirs.predict_proba(np.eye(4)), atol=1e-4)
