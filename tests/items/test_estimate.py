"""What an estimate shows of itself: one line."""

import numpy as np

from quantshift.quantifiers import Estimate


def test_shares_and_the_names_of_diagnostics():
    """It was the repr of every array."""
    one = Estimate(np.array([0.3, 0.7]), np.array(["ham", "spam"]), {"distance": np.array(0.1)})
    assert repr(one) == "Estimate(ham: 30.0%, spam: 70.0%; diagnostics: distance)"


def test_many_samples_and_classes_stay_on_one_line():
    many = Estimate(np.full((4, 5, 20), 0.05), np.arange(20), {})
    assert repr(many) == "Estimate(4 x 5 samples, 20 classes)"
    shown = repr(Estimate(np.full(20, 0.05), np.arange(20), {}))
    assert shown.endswith("9: 5.0%, ...)")
