"""Models that are fitted on sketches."""

import pytest

from quantshift.answers.rows import NOT_DRAWN
from quantshift.sketches import sketch
from quantshift.sketches.estimating import fitting
from tests.sketches.made import labelled


@pytest.mark.parametrize(("most", "left_out"), [(300, {}), (200, {NOT_DRAWN: 100})])
def test_rows_that_are_not_drawn_are_left_out_if_there_are_any(monkeypatch, most, left_out):
    monkeypatch.setattr(fitting, "MOST_TRAINING", most)
    training = sketch(labelled(300), score="p", label="y")
    model = fitting.trained_model(training, "the sketch", None, "PCC", 0)
    assert model.training.rows.left_out == left_out
    assert model.training.rows.used == most
