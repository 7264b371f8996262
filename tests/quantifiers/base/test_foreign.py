"""Quantifiers of other libraries and of single scripts."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from quapy.method import aggregative
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from quantshift import PriorShift, evaluate
from quantshift.base.seeding import generator
from quantshift.checks.every_quantifier import yield_checks
from quantshift.errors import DataError, UserError
from quantshift.quantifiers import wrap
from quantshift.quantifiers.base.foreign import ForeignQuantifier, is_quantifier, plain_matrix


class Answering:
    """Answers what it was told to; remembers what it was fitted on."""

    def __init__(self, answer=None, learner=None):
        self.answer = answer
        self.learner = learner

    def fit(self, X, y):
        self.seen = X, y.tolist()
        return self

    def quantify(self, X):
        return self.answer


class WithoutClassifier:
    def fit(self, X, y):
        self.counts = np.bincount(y)
        return self

    def predict(self, X):
        return dict(enumerate(self.counts / self.counts.sum()))


class MeanOfFirst:
    """Two classes: the mean of the first feature."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return float(np.clip(X[:, 0].mean(), 0, 1))


@pytest.fixture(scope="module")
def data():
    rng = generator(0, purpose="foreign")
    codes = np.repeat([0, 1], [60, 40])
    return rng.normal(size=(100, 3)) + codes[:, np.newaxis], codes


@pytest.fixture(scope="module")
def three():
    rng = generator(0, purpose="foreign", n_classes=3)
    names = np.repeat(["a", "b", "c"], [50, 40, 30])
    return rng.normal(size=(120, 3)) + 3 * np.eye(3)[np.repeat([0, 1, 2], [50, 40, 30])], names


def estimate(cls, data, **options):
    X, codes = data
    fitted = wrap(cls, classifier=LogisticRegression(), **options).fit(csr_array(X), codes)
    return fitted.predict(csr_array(X))


def test_what_counts_as_a_quantifier():
    assert is_quantifier(aggregative.CC)
    assert is_quantifier(Answering)
    assert is_quantifier(WithoutClassifier)
    assert not is_quantifier(dict)


@pytest.mark.parametrize(
    "answer", [[0.3, 0.7], np.array([[0.3, 0.7]]), {1: 0.7, 0: 0.3}, 0.7, np.array([0.7])]
)
def test_answers_of_any_shape(answer, data):
    assert_allclose(estimate(Answering, data, answer=answer), [0.3, 0.7])


@pytest.mark.parametrize("answer", [[0.2, 0.3, 0.5], {2: 0.5, 0: 0.2, 1: 0.3}, {2: 0.5, 0: 0.5}])
def test_answers_of_three_classes(answer, three):
    expected = [0.5, 0, 0.5] if len(answer) == 2 else [0.2, 0.3, 0.5]
    fitted = wrap(Answering, answer=answer).fit(*three)
    assert fitted.classes_.tolist() == ["a", "b", "c"]
    assert_allclose(fitted.predict(three[0]), expected)


def test_a_class_that_is_not_named_has_no_share(data):
    assert_array_equal(estimate(Answering, data, answer={1: 1.0}), [0, 1])


@pytest.mark.parametrize("answer", [1.7, [0.3, 0.3, 0.4], [0.5, 0.6], [np.nan, 1.0], [-0.2, 1.2]])
def test_answers_that_are_none_are_refused(answer, data):
    with pytest.raises(DataError, match=r"Answering returned .* classes 0 and 1, .* sum to 1"):
        estimate(Answering, data, answer=answer)


def test_a_share_is_no_answer_for_three_classes(three):
    with pytest.raises(DataError, match="prevalences of the classes 0 to 2"):
        wrap(Answering, answer=0.4).fit(*three).predict(three[0])


def test_the_classifier_goes_where_the_library_wants_it(data):
    X, codes = data
    fitted = wrap(Answering, classifier=LogisticRegression(C=7), answer=0.5).fit(
        csr_array(X), codes
    )
    assert fitted.quantifier_.learner.C == 7
    assert isinstance(fitted.quantifier_.seen[0], csr_matrix)
    assert fitted.quantifier_.seen[1] == codes.tolist()
    own = wrap(Answering, answer=0.5, learner="its own").fit(X, codes)
    assert own.quantifier_.learner == "its own"
    assert isinstance(wrap(Answering).fit(X, codes).quantifier_.learner, LogisticRegression)


def test_objects_are_copied_and_keep_their_options(data):
    X, codes = data
    told = Answering(answer=0.25, learner="its own")
    fitted = wrap(told).fit(X, codes)
    assert_allclose(fitted.predict(X), [0.75, 0.25])
    assert not hasattr(told, "seen")
    assert fitted.quantifier_.learner == "its own"
    given = wrap(told, classifier=LogisticRegression(C=7)).fit(X, codes)
    assert given.quantifier_.learner.C == 7
    with pytest.raises(UserError, match="options need a class"):
        wrap(told, answer=0.5).fit(X, codes)


def test_without_a_classifier(data, three):
    assert estimate(WithoutClassifier, data)[1] == pytest.approx(0.4)
    assert_allclose(wrap(WithoutClassifier).fit(*three).predict(three[0]) * 120, [50, 40, 30])


def test_quapy_s_count_is_the_count(data):
    X, codes = data
    share = LogisticRegression().fit(X, codes).predict(X).mean()
    assert estimate(aggregative.CC, data)[1] == pytest.approx(share)
    assert 0 <= estimate(aggregative.PACC, data, val_split=3)[1] <= 1


@pytest.mark.parametrize("cls", [aggregative.CC, aggregative.PACC, aggregative.EMQ])
def test_quapy_with_three_classes_and_names(cls, three):
    X, names = three
    codes = np.unique(names, return_inverse=True)[1]
    np.random.seed(0)  # noqa: NPY002 -- QuaPy draws its folds from numpy's global generator
    theirs = cls(LogisticRegression()).fit(X, codes).predict(X[10:60])
    np.random.seed(0)  # noqa: NPY002
    ours = wrap(cls, classifier=LogisticRegression()).fit(X, names).predict(X[10:60])
    assert_allclose(ours, theirs, atol=1e-12)


def test_samples_weights_and_copies(data):
    X, codes = data
    fitted = wrap(MeanOfFirst).fit(X, codes)
    rows = [np.array([3, 50, 70]), np.array([80])]
    means = [np.clip(X[own, 0].mean(), 0, 1) for own in rows]
    assert_allclose(fitted.predict(X, rows)[:, 1], means)
    weights = np.ones(100)
    weights[50] = 3
    heavy = fitted.predict(X, rows, sample_weight=weights)[0, 1]
    assert heavy == pytest.approx(np.clip(X[[3, 50, 50, 50, 70], 0].mean(), 0, 1))
    with pytest.raises(UserError, match="weights that are whole numbers"):
        fitted.predict(X, sample_weight=weights + 0.5 * (np.arange(100) == 7))
    trained = wrap(WithoutClassifier).fit(X, codes, 1 + codes)
    assert_allclose(trained.predict(X), [60 / 140, 80 / 140])
    assert_allclose(trained.prior_, [60 / 140, 80 / 140])
    back = pickle.loads(pickle.dumps(clone(trained).fit(X, codes)))
    assert_allclose(back.predict(X), [0.6, 0.4])


def test_evaluate_takes_them(data):
    X, codes = data
    protocol = PriorShift(test_size=20, test_repeats=2)
    frame = evaluate(wrap(aggregative.CC).fit(X, codes), protocol, X, codes)
    assert len(frame) == 22
    assert frame["ae"].mean() < 0.5


def test_intervals_refit_on_resampled_training_items():
    rng = generator(0, purpose="foreign interval")
    y = np.repeat([0, 1], 150)
    X = rng.normal(size=(300, 2)) + 2.0 * y[:, np.newaxis]
    fitted = wrap(aggregative.PACC, classifier=LogisticRegression(), val_split=3).fit(X, y)
    interval = fitted.predict_interval(X[100:220], n_bootstrap=60)
    truth = (y[100:220] == 1).mean()
    assert interval.low[1] < truth < interval.high[1]
    assert 0.05 < interval.high[1] - interval.low[1] < 0.5
    assert interval.replicates.shape == (60, 2)
    # Three replicates of the training side; each answers for twenty of the sample.
    again = fitted.refit(np.concatenate([np.arange(100), np.arange(200, 300)]))
    assert again.quantifier_ is not fitted.quantifier_
    assert len(again.held_out_codes_) == 200


CHECKED = ForeignQuantifier(aggregative.PCC, LogisticRegression())


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=name)
        for name, check in yield_checks(CHECKED)
        if not name.startswith("right_for")  # PCC does not adjust
    ],
)
def test_wrapped_methods_pass_the_checks_that_apply(check):
    check()


def test_dense_features_stay_as_they_are(data):
    assert plain_matrix(data[0]) is data[0]
