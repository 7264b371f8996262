"""The classes of a training table, and which of two is the positive one."""

import numpy as np
import polars as pl
import pytest

from quantshift.errors import UserError
from quantshift.quantifying import train
from quantshift.quantifying.options import ColumnOptions
from quantshift.quantifying.training.learning import most_folds_of_rivals
from quantshift.quantifying.training.model import (
    given_posteriors,
    posterior_columns,
    without_training,
)
from quantshift.quantifying.training.training_warnings import _errors


def trained(labels, positive=None):
    frame = pl.DataFrame({"x": [float(i % 7) for i in range(60)], "y": labels})
    return train(frame, label="y", positive=positive, method="PCC", classifier="logistic")


@pytest.mark.parametrize(("positive", "classes"), [("a", ("b", "a")), ("b", ("a", "b"))])
def test_of_two_classes_the_positive_one_is_the_second(positive, classes):
    model = trained(["a", "b", "b"] * 20, positive)
    assert model.classes == classes
    assert model.headline == positive
    assert model.training.counts == {"a": 20, "b": 40}
    assert model.base.prior_.tolist() == pytest.approx([{"a": 1, "b": 2}[c] / 3 for c in classes])


def test_of_three_classes_the_order_stays():
    model = trained(["a", "b", "c"] * 20, "a")
    assert (model.classes, model.headline) == (("a", "b", "c"), "a")
    with pytest.raises(UserError, match="class in column 'y'"):
        trained(["a", "b", "c"] * 20, "d")


@pytest.mark.parametrize(("n_items", "most"), [(1999, 10), (2000, 5)])
def test_where_several_classifiers_are_tried_many_items_have_fewer_folds(n_items, most):
    assert most_folds_of_rivals(n_items) == most


def test_a_column_of_posteriors_for_each_class_or_one_for_two():
    frame = pl.DataFrame({"p_a": [0.25, 0.5], "p_b": [0.75, 0.5], "p_c": [0.0, 0.0]})
    for names, expected in (
        (("p_b", "p_a"), [[0.25, 0.75], [0.5, 0.5]]),
        (("p_a",), [[0.75, 0.25], [0.5, 0.5]]),
    ):
        columns = posterior_columns(ColumnOptions(posteriors=names), ())
        assert given_posteriors(frame, columns, ("a", "b")).tolist() == expected
    three = posterior_columns(ColumnOptions(posteriors=tuple(frame.columns)), ())
    with pytest.raises(UserError, match="3 posterior columns for 2 classes"):
        given_posteriors(frame, three, ("a", "b"))


def test_without_training_no_cell_was_unreadable():
    assert without_training(("p",), "auto", cure="train").training.undecodable == 0


def test_a_column_that_gives_the_class_away_leaves_no_error():
    codes = np.arange(60) % 2
    folds = np.arange(60) // 2 % 3
    assert _errors(codes[:, np.newaxis].astype(float), codes, folds, 0) == 0
    assert _errors(np.zeros((60, 1)), codes, folds, 0) == 0.5
