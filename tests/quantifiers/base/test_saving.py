"""Fitted quantifiers in files: the same estimates back, and nothing foreign is built."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from quantshift import CC, PACC, SLD, load, save
from quantshift.errors import DataError, UserError
from quantshift.quantifiers import Median
from quantshift.quantifiers.base import catalogue

RNG = np.random.default_rng(0)
Y = np.repeat(["ham", "spam"], 40)
X = RNG.normal(1.5 * (Y == "spam"))[:, np.newaxis]


@pytest.mark.parametrize("name", catalogue.quantifiers())
def test_every_quantifier_comes_back_with_the_same_estimates(name, tmp_path):
    fitted = catalogue.quantifiers()[name]().fit(X, Y)
    save(fitted, tmp_path / "q.skops")
    again = load(tmp_path / "q.skops")
    assert_array_equal(again.predict(X[30:60]), fitted.predict(X[30:60]))
    assert again.get_params().keys() == fitted.get_params().keys()


@pytest.mark.parametrize(
    "classifier",
    [
        RandomForestClassifier(5, random_state=0),
        HistGradientBoostingClassifier(max_iter=3),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
)
def test_classifiers_of_scikit_learn_come_back(classifier, tmp_path):
    fitted = PACC(classifier).fit(X, Y)
    save(fitted, tmp_path / "q.skops")
    assert_array_equal(load(tmp_path / "q.skops").predict(X), fitted.predict(X))


class Own(LogisticRegression):
    pass


def test_what_cannot_be_saved_is_one_line(tmp_path):
    place = tmp_path / "q.skops"
    refused = {
        "cannot be saved: a model can only hold parts of scikit-learn": PACC(Own()).fit(X, Y),
        "not fitted yet": SLD(),
        "put the other steps inside the classifier": make_pipeline(StandardScaler(), SLD()),
        "save takes a quantifier such as": LogisticRegression(),
    }
    for message, wrong in refused.items():
        with pytest.raises(ValueError, match=message):
            save(wrong, place)
    assert not place.exists()


def test_what_is_no_saved_quantifier_is_one_line(tmp_path):
    place = tmp_path / "q.skops"
    with pytest.raises(UserError, match="name a file that save wrote"):
        load(place)
    place.write_bytes(pickle.dumps(CC()))
    with pytest.raises(DataError, match="cannot be read by this version"):
        load(place)
    save(Median([PACC(), SLD()]).fit(X, Y), place)
    content = place.read_bytes()
    for end in (10, len(content) // 2, len(content) - 1):
        place.write_bytes(content[:end])
        with pytest.raises(DataError, match="cannot be read by this version"):
            load(place)


def test_a_file_of_another_version_is_refused(tmp_path, monkeypatch):
    place = tmp_path / "q.skops"
    save(CC().fit(X, Y), place)
    monkeypatch.setattr("quantshift.__version__", "0.1.0")
    with pytest.raises(DataError, match=r"made with quantshift 1\.0\.0, but 0\.1\.0 is installed"):
        load(place)
