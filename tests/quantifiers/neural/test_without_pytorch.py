"""Without PyTorch the neural quantifier can be named, and fitting it names the extra."""

import sys

import numpy as np
import pytest

from quantshift.errors import MissingPackageError
from quantshift.quantifiers.base.catalogue import quantifier_class

NAME = "quantshift.quantifiers.neural.set_network:SetNetwork"


def test_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for module in ("learning", "evaluation", "network", "losses"):
        monkeypatch.delitem(sys.modules, f"quantshift.quantifiers.neural.{module}", raising=False)
    monkeypatch.delitem(sys.modules, "quantshift.base.devices", raising=False)
    made = quantifier_class(NAME)()
    posteriors = np.tile([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]], (4, 1)) + 0.001 * np.arange(12)[
        :, None
    ] * [1, -1]
    with pytest.raises(
        MissingPackageError,
        match=r"SetNetwork needs torch, which is not installed: pip install 'quantshift\[neural\]'",
    ):
        made.fit_posteriors(posteriors, np.arange(12) % 3 == 1)
