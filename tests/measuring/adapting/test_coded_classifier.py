"""Codes outside, labels inside."""

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from quantshift.measuring.adapting.coded_classifier import CodedClassifier


def data():
    rng = np.random.default_rng(0)
    codes = np.arange(60) % 2
    return rng.normal(size=(60, 2)) + codes[:, np.newaxis], codes


def test_class_weights_by_label_keep_their_meaning():
    X, codes = data()
    labels = np.array(["ham", "spam"])
    coded = CodedClassifier(LogisticRegression(class_weight={"spam": 5.0}), labels).fit(X, codes)
    plain = LogisticRegression(class_weight={"spam": 5.0}).fit(X, labels[codes])
    np.testing.assert_array_equal(coded.predict_proba(X), plain.predict_proba(X))
    assert coded.classes_.tolist() == [0, 1]


def test_a_frozen_classifier_is_used_as_it_is():
    X, codes = data()
    labels = np.array(["ham", "spam"])
    fitted = LogisticRegression().fit(X, labels[codes])
    coded = clone(CodedClassifier(FrozenEstimator(fitted), labels)).fit(X[:10], codes[:10])
    np.testing.assert_array_equal(coded.predict_proba(X), fitted.predict_proba(X))
