"""Quantifiers of other libraries and of single scripts."""

import numpy as np
import pytest
from quapy.method import aggregative
from scipy.sparse import csr_array, csr_matrix
from sklearn.linear_model import LogisticRegression

from quantshift.errors import DataError
from quantshift.quantifiers.foreign import fit_foreign, is_quantifier, plain_matrix
from quantshift.seeding import generator


class Answering:
    """Answers what it was told to; remembers what it was fitted on."""

    def __init__(self, answer=None, learner=None):
        self.answer = answer
        self.learner = learner

    def fit(self, X, y):
        self.seen = type(X), y.tolist()
        return self

    def quantify(self, X):
        return self.answer


class WithoutClassifier:
    def fit(self, X, y):
        self.share = float(np.mean(y))
        return self

    def predict(self, X):
        return {0: 1 - self.share, 1: self.share}


@pytest.fixture(scope="module")
def data():
    rng = generator(0, purpose="foreign")
    codes = np.repeat([0, 1], [60, 40])
    return rng.normal(size=(100, 3)) + codes[:, np.newaxis], codes


def estimate(cls, data, **options):
    X, codes = data
    return fit_foreign(cls, options, LogisticRegression(), csr_array(X), codes)(csr_array(X))


def test_what_counts_as_a_quantifier():
    assert is_quantifier(aggregative.CC)
    assert is_quantifier(Answering)
    assert is_quantifier(WithoutClassifier)
    assert not is_quantifier(dict)


@pytest.mark.parametrize("answer", [[0.3, 0.7], np.array([[0.3, 0.7]]), {1: 0.7, 0: 0.3}])
def test_answers_of_any_shape(answer, data):
    assert estimate(Answering, data, answer=answer) == pytest.approx(0.7)


def test_a_class_that_is_not_named_has_no_share(data):
    assert estimate(Answering, data, answer={1: 1.0}) == 1.0


@pytest.mark.parametrize("answer", [0.7, [0.3, 0.3, 0.4], [0.5, 0.6], [np.nan, 1.0]])
def test_answers_that_are_none_are_refused(answer, data):
    with pytest.raises(DataError, match=r"Answering answered .* sum to 1"):
        estimate(Answering, data, answer=answer)


def test_the_classifier_goes_where_the_library_wants_it(data):
    X, codes = data
    seen = []

    class Spy(Answering):
        def fit(self, X, y):
            seen.append((self.learner, type(X)))
            return super().fit(X, y)

    classifier = LogisticRegression(C=7)
    fit_foreign(Spy, {"answer": [0.5, 0.5]}, classifier, csr_array(X), codes)
    assert seen == [(classifier, csr_matrix)]
    fit_foreign(Spy, {"learner": "its own"}, classifier, csr_array(X), codes)
    assert seen[1][0] == "its own"


def test_without_a_classifier(data):
    assert estimate(WithoutClassifier, data) == pytest.approx(0.4)


def test_quapy_s_count_is_the_count(data):
    X, codes = data
    share = LogisticRegression().fit(X, codes).predict(X).mean()
    assert estimate(aggregative.CC, data) == pytest.approx(share)
    assert 0 <= estimate(aggregative.PACC, data, val_split=3) <= 1


def test_dense_features_stay_as_they_are(data):
    assert plain_matrix(data[0]) is data[0]
