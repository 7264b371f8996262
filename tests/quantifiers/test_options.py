"""Every option of every quantifier is held to what its type declares, when it is fitted."""

import inspect

import numpy as np
import pytest

from quantshift.base.domains import check_options
from quantshift.errors import UserError
from quantshift.quantifiers.base import catalogue

QUANTIFIERS = catalogue.quantifiers()
OPTIONS = [
    (name, option)
    for name, cls in QUANTIFIERS.items()
    for option in inspect.signature(cls).parameters
]
NEVER = ("no such name", -1, float("nan"), object(), {}, np.array([[1.5, 2.0]]))
"""What no option can be: not even a number of either sign, nor a name."""


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_values_of_the_wrong_kind_are_refused_in_one_line(name: str, option: str) -> None:
    X, y = np.arange(20.0)[:, np.newaxis], np.arange(20) % 2
    for wrong in NEVER:
        if option == "cv" and isinstance(wrong, np.ndarray):
            continue  # the fold of each item, which is checked with the items
        with pytest.raises(UserError) as refused:
            QUANTIFIERS[name](**{option: wrong}).fit(X, y)
        assert str(refused.value).startswith(f"{option} of {name} must be ")
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", QUANTIFIERS)
def test_every_option_has_a_type_that_its_default_meets(name: str) -> None:
    cls = QUANTIFIERS[name]
    assert set(inspect.signature(cls).parameters) <= set(inspect.get_annotations(cls.__init__)) or (
        not inspect.signature(cls).parameters
    )
    check_options(cls())
