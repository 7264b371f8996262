"""The classifiers of several labels."""

import numpy as np
import pytest

from quantshift.multilabel import label_models
from quantshift.multilabel.label_models import LabelFolds, LogisticLabels, fit_label_models

FOLDS = LabelFolds(3, 0)


def made(n_items):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_items, 4))
    return X, (X @ [2.0, -1.0, 0.0, 0.0] + rng.normal(size=n_items) > 1.5)[:, np.newaxis]


def test_of_many_items_some_choose_the_penalty(monkeypatch: pytest.MonkeyPatch) -> None:
    X, has = made(label_models.MOST_CHOOSING + 100)
    models, held_out = fit_label_models(None, X, has, FOLDS)
    tried = []
    for penalty in label_models.PENALTIES:
        monkeypatch.setattr(label_models, "PENALTIES", (penalty,))
        monkeypatch.setattr(label_models, "MOST_CHOOSING", len(X))
        alone, alone_held_out = fit_label_models(None, X, has, FOLDS)
        same = np.array_equal(held_out, alone_held_out)
        assert np.array_equal(models.coef, alone.coef) == same
        tried.append(same)
    assert sum(tried) == 1


def test_rare_labels_keep_their_items() -> None:
    has_label = np.zeros(20_000, dtype=bool)
    has_label[::200] = True
    rows = label_models._choosing_rows(has_label, 0)
    assert has_label[rows].sum() == 100
    assert abs(len(rows) - label_models.MOST_CHOOSING) < 110
    frequent = np.arange(20_000) % 2 == 0
    assert abs(frequent[label_models._choosing_rows(frequent, 0)].mean() - 0.5) < 0.01


def test_features_are_standardised_where_they_have_a_centre_or_a_scale() -> None:
    zero, one, coef = np.zeros(2), np.ones(2), np.ones((2, 1))
    for centre, scale, expected in ((zero, one, False), (zero, 2 * one, True), (one, one, True)):
        model = LogisticLabels(coef, np.zeros(1), centre, scale)
        assert model.is_scaled == expected
        logits = ((np.array([[1.0, 3.0]]) - centre) / scale).sum()
        assert model.posteriors([[1.0, 3.0]])[0, 0] == pytest.approx(1 / (1 + np.exp(-logits)))


@pytest.mark.parametrize(("n_with", "n_folds"), [(7, 3), (3, 3), (2, 2), (5, 5)])
def test_no_more_folds_than_items_with_or_without_the_label(n_with, n_folds) -> None:
    folds = LabelFolds(5, 0).of(np.arange(10) < n_with)
    assert len(np.unique(folds)) == n_folds
