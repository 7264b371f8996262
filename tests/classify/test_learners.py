import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from quantshift.base.seeding import generator
from quantshift.classify.folds import stratified_folds
from quantshift.classify.learners import GivenPosteriors, LogisticLearner, SklearnLearner
from quantshift.errors import DataError, UserError
from quantshift.texts.view import MatrixView

SETTINGS = [
    {"C": 0.5, "class_weight": None},
    {"C": 20.0, "class_weight": "balanced"},
    {"C": 0.5, "class_weight": "balanced"},
]
ROWS = np.arange(20, 140)
OTHERS = np.arange(20)


@pytest.fixture(scope="module")
def data():
    rng = generator(0, purpose="learners")
    codes = (rng.random(140) < 0.3).astype(np.int64)
    X = rng.normal(size=(140, 6)) + 0.8 * codes[:, np.newaxis]
    return MatrixView(X), codes[ROWS], stratified_folds(codes[ROWS], 5, seed=0)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_batch_and_scikit_learn_agree(data, sparse):
    view, codes, folds = data
    if sparse:
        view = MatrixView(csr_array(view.matrix))
    ours = LogisticLearner(tol=1e-14).learn(view, ROWS, codes, SETTINGS, folds)
    learner = SklearnLearner(LogisticRegression(tol=1e-10, max_iter=5000))
    theirs = learner.learn(view, ROWS, codes, SETTINGS, folds)
    assert ours.out_of_fold.shape == (3, 120, 2)
    assert_allclose(ours.out_of_fold, theirs.out_of_fold, atol=1e-5)
    assert_allclose(ours.posteriors(view, OTHERS), theirs.posteriors(view, OTHERS), atol=1e-5)
    assert_allclose(ours.out_of_fold.sum(axis=-1), 1)
    assert ours.converged.all()
    for place in range(3):
        members = ours.committee(view, OTHERS, place)
        assert members.shape == (5, 20, 2)
        assert_allclose(members, theirs.committee(view, OTHERS, place), atol=1e-5)


def test_the_committee_is_the_models_of_the_held_out_posteriors(data):
    view, codes, folds = data
    for learner in (LogisticLearner(), SklearnLearner(RandomForestClassifier(5, random_state=0))):
        settings = SETTINGS if isinstance(learner, LogisticLearner) else [{"max_depth": 3}]
        models = learner.learn(view, ROWS, codes, settings, folds)
        for place, held_out in enumerate(models.out_of_fold):
            members = models.committee(view, ROWS, place)
            assert_allclose(members[folds, np.arange(len(ROWS))], held_out, atol=1e-9)


def test_held_out_items_do_not_teach_their_own_posteriors(data):
    view, codes, folds = data
    learner = LogisticLearner(tol=1e-14)
    before = learner.learn(view, ROWS, codes, SETTINGS, folds).out_of_fold
    changed = codes.copy()
    changed[0] = 1 - changed[0]
    after = learner.learn(view, ROWS, changed, SETTINGS, folds).out_of_fold
    assert_allclose(before[:, folds == folds[0]], after[:, folds == folds[0]], atol=1e-7)
    assert np.abs(before - after)[:, folds != folds[0]].max() > 1e-4


def test_settings_win_over_defaults_and_are_independent(data):
    view, codes, folds = data
    learner = LogisticLearner(defaults={"C": 7.0, "class_weight": "balanced"})
    together = learner.learn(view, ROWS, codes, [{}, {"C": 0.5}], folds)
    alone = LogisticLearner().learn(
        view, ROWS, codes, [{"C": 7.0, "class_weight": "balanced"}], folds
    )
    assert_allclose(
        together.posteriors(view, OTHERS)[0], alone.posteriors(view, OTHERS)[0], atol=1e-5
    )
    assert np.abs(np.diff(together.posteriors(view, OTHERS), axis=0)).max() > 1e-3


@pytest.mark.parametrize("C", [0.01, 1000.0])
def test_the_estimator_of_a_setting_is_as_accurate_as_the_batch(data, C):
    view, codes, folds = data
    setting = {"C": C, "class_weight": "balanced"}
    exact = LogisticLearner(tol=1e-14).learn(view, ROWS, codes, [setting], folds)
    model = LogisticLearner().estimator(setting).fit(view.matrix[ROWS], codes)
    expected = exact.posteriors(view, OTHERS)[0]
    assert_allclose(model.predict_proba(view.matrix[OTHERS]), expected, atol=1e-4)


def test_no_convergence_is_said(data):
    view, codes, folds = data
    models = LogisticLearner(max_iter=1, tol=1e-12).learn(view, ROWS, codes, SETTINGS, folds)
    assert not models.converged.any()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"c": 1}, "unknown parameter of the logistic regression 'c'; did you mean 'C'?"),
        ({"class_weight": "heavy"}, "must be 'balanced' or none, got 'heavy'"),
    ],
)
def test_wrong_settings_are_refused(data, setting, message):
    view, codes, folds = data
    with pytest.raises(UserError) as error:
        LogisticLearner().learn(view, ROWS, codes, [setting], folds)
    assert message in str(error.value)


def test_trees_take_sparse_features_with_long_indices(data):
    view, codes, folds = data
    matrix = csr_array(view.matrix)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    forest = SklearnLearner(RandomForestClassifier(n_estimators=3, random_state=0))
    settings = [{"max_depth": 2}, {"max_depth": 3}]
    sparse = forest.learn(MatrixView(matrix), ROWS, codes, settings, folds)
    dense = forest.learn(view, ROWS, codes, settings, folds)
    assert_allclose(sparse.out_of_fold, dense.out_of_fold)
    assert_allclose(sparse.posteriors(MatrixView(matrix), OTHERS), dense.posteriors(view, OTHERS))


def test_given_posteriors_stand_for_a_model(data):
    view, codes, folds = data
    positive = np.linspace(0, 1, 140)
    given = np.stack([1 - positive, positive], axis=1)
    models = GivenPosteriors(given).learn(view, ROWS, codes, [{}], folds)
    assert_allclose(models.out_of_fold, given[np.newaxis, ROWS])
    assert_allclose(models.posteriors(view, OTHERS), given[np.newaxis, OTHERS])
    assert models.converged.tolist() == [True]


# --- more than two classes ---------------------------------------------------------------------

LEARNERS = [
    (LogisticLearner(), SETTINGS),
    (SklearnLearner(RandomForestClassifier(5, random_state=0)), [{"max_depth": 3}]),
]


@pytest.fixture(scope="module")
def classes():
    rng = generator(0, purpose="learners of four classes")
    codes = np.r_[np.arange(4), rng.choice(4, 136, p=[0.4, 0.3, 0.2, 0.1])]
    X = rng.normal(size=(140, 6)) + 0.5 * np.eye(4, 6)[codes]
    return MatrixView(X), codes[ROWS], stratified_folds(codes[ROWS], 5, seed=0)


@pytest.mark.parametrize(("learner", "settings"), LEARNERS)
def test_every_class_has_a_column(classes, learner, settings):
    view, codes, folds = classes
    models = learner.learn(view, ROWS, codes, settings, folds, 4)
    assert models.out_of_fold.shape == (len(settings), 120, 4)
    assert models.posteriors(view, OTHERS).shape == (len(settings), 20, 4)
    assert_allclose(models.posteriors(view, OTHERS).sum(axis=-1), 1)
    for place, held_out in enumerate(models.out_of_fold):
        assert models.committee(view, OTHERS, place).shape == (5, 20, 4)
        members = models.committee(view, ROWS, place)
        assert_allclose(members[folds, np.arange(len(ROWS))], held_out, atol=1e-9)


@pytest.mark.parametrize("C", [0.01, 1000.0])
def test_the_estimator_of_many_classes_is_as_accurate_as_the_batch(classes, C):
    view, codes, folds = classes
    setting = {"C": C, "class_weight": "balanced"}
    exact = LogisticLearner(tol=1e-14).learn(view, ROWS, codes, [setting], folds, 4)
    model = LogisticLearner().estimator(setting).fit(view.matrix[ROWS], codes)
    expected = exact.posteriors(view, OTHERS)[0]
    assert_allclose(model.predict_proba(view.matrix[OTHERS]), expected, atol=1e-4)


@pytest.mark.parametrize(("learner", "settings"), LEARNERS)
def test_a_training_set_that_lacks_a_class_is_refused(classes, learner, settings):
    view, codes, folds = classes
    with pytest.raises(DataError, match="no training item is of class 4"):
        learner.learn(view, ROWS, codes, settings, folds, 5)
    with pytest.raises(DataError, match="codes from 0 to 3 but 3 classes"):
        learner.learn(view, ROWS, codes, settings, folds, 3)
    together = np.where(codes == 2, 1, folds)
    with pytest.raises(DataError, match=r"all training items of class 2 .* are in one fold"):
        learner.learn(view, ROWS, codes, settings, together, 4)


def test_given_posteriors_need_a_column_per_class(classes):
    view, codes, folds = classes
    given = generator(0, purpose="given").dirichlet(np.ones(4), size=140)
    models = GivenPosteriors(given).learn(view, ROWS, codes, SETTINGS, folds, 4)
    assert_allclose(models.out_of_fold, np.tile(given[ROWS], (3, 1, 1)))
    assert_allclose(models.committee(view, OTHERS, 0), given[np.newaxis, OTHERS])
    # What nobody learns need not be there.
    without = np.where(codes == 3, 0, codes)
    GivenPosteriors(given).learn(view, ROWS, without, SETTINGS, folds, 4)
    with pytest.raises(DataError, match="have 4 columns but there are 3 classes"):
        GivenPosteriors(given).learn(view, ROWS, codes, SETTINGS, folds, 3)
