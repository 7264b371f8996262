"""Items as a classifier sees them: out of fold for training, by all models for testing."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from quantshift import SLD
from quantshift.classify.folds import stratified_folds
from quantshift.data import ClassifyOptions, ImportOptions, classify_items, import_arrays
from quantshift.data.importing.arrays import DataFile
from quantshift.errors import UserError

LOGISTIC = "sklearn.linear_model:LogisticRegression"


class EmbeddingClassifier(LogisticRegression):
    """A classifier whose embeddings are the items and its first coefficient."""

    def embed(self, X):
        return np.column_stack([X, np.full(len(X), self.coef_[0, 0])])


@pytest.fixture(scope="module")
def items():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 150)
    return np.eye(3)[y] + rng.normal(size=(150, 3)), np.array(["a", "b", "c"])[y]


@pytest.fixture
def folder(items, tmp_path):
    np.save(tmp_path / "X.npy", items[0])
    np.save(tmp_path / "y.npy", items[1])
    return import_arrays(
        tmp_path / "items",
        features=tmp_path / "X.npy",
        labels=DataFile(tmp_path / "y.npy"),
        options=ImportOptions(test_share=0.4, title="Letters"),
    ).path


def test_posteriors_are_held_out_ones_and_means_over_the_models(folder, items, tmp_path):
    X, y = items
    options = ClassifyOptions(classifier=LOGISTIC, folds=3, seed=7)
    (data,) = classify_items(folder, tmp_path / "p", options=options)
    data.verify()
    made = data.dataset()
    train = np.setdiff1d(np.arange(150), made.test)
    folds = stratified_folds(np.searchsorted(["a", "b", "c"], y[train]), 3, seed=7)
    by_model = []
    for fold in range(3):
        model = LogisticRegression(random_state=7).fit(
            X[train[folds != fold]], y[train[folds != fold]]
        )
        held_out = train[folds == fold]
        assert_allclose(made.posteriors[held_out], model.predict_proba(X[held_out]))
        by_model.append(model.predict_proba(X[made.test]))
    assert_allclose(made.posteriors[made.test], np.mean(by_model, axis=0))
    assert_array_equal(made.labels, y)
    assert data.manifest["split"] == {"train": 90, "test": 60}
    assert data.title == "Letters"
    assert data.manifest["classifier"]["folds"] == 3
    fitted = SLD().fit_posteriors(made.posteriors[train], y[train])
    assert fitted.aggregate(made.posteriors[made.test]).sum() == pytest.approx(1)


def test_embeddings_are_of_one_model_and_items_it_was_not_trained_on(folder, items, tmp_path):
    X, y = items
    options = ClassifyOptions(classifier=f"{__name__}:EmbeddingClassifier", folds=3)
    _, data = classify_items(folder, tmp_path / "p", embeddings=tmp_path / "e", options=options)
    made = data.dataset()
    assert data.manifest["split"] == {"train": 30, "test": 60}
    matrix = np.asarray(made.features.matrix)
    assert len(np.unique(matrix[:, 3])) == 1
    rows = [int(np.flatnonzero((row == X).all(1))[0]) for row in matrix[:, :3]]
    assert_array_equal(made.labels, y[rows])
    whole = np.arange(150)
    fitted_on = np.setdiff1d(whole, rows)
    model = LogisticRegression().fit(X[fitted_on], y[fitted_on])
    assert_allclose(matrix[0, 3], model.coef_[0, 0], rtol=1e-3)


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"classifier": "forrest"}, {}, "unknown classifier 'forrest'; did you mean 'forest'"),
        ({"classifier": LOGISTIC}, {"settings": {"c": 1}}, "unknown setting of .*: 'c'"),
        ({"classifier": LOGISTIC}, {"embeddings": "e"}, "LogisticRegression has no embeddings"),
    ],
)
def test_what_cannot_be_done_is_refused_before_training(
    options, arguments, message, folder, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        classify_items(folder, "p", options=ClassifyOptions(**options), **arguments)
    assert not (tmp_path / "p").exists()


def test_posteriors_and_unsplit_data_are_refused(folder, items, tmp_path):
    options = ClassifyOptions(classifier=LOGISTIC, folds=2)
    classify_items(folder, tmp_path / "p", options=options)
    with pytest.raises(UserError, match="items of kind posteriors; import a matrix or images"):
        classify_items(tmp_path / "p", tmp_path / "q", options=options)
    whole = import_arrays(
        tmp_path / "whole",
        features=tmp_path / "X.npy",
        labels=DataFile(tmp_path / "y.npy"),
    ).path
    with pytest.raises(UserError, match="only a data set that is split can have embeddings"):
        classify_items(whole, tmp_path / "q", embeddings=tmp_path / "e", options=options)
    (data,) = classify_items(whole, tmp_path / "q", options=options)
    assert "split" not in data.manifest


def test_the_network_without_its_package_is_one_line(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in ("convolutional", "residual_network"):
        module = f"quantshift.classify.images.{name}"
        monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(UserError, match=r"'convolutional' needs torch, .* 'quantshift\[neural\]'"):
        classify_items(folder, tmp_path / "p")
