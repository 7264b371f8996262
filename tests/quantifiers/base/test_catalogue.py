"""Methods by name: those of the package, and users' own."""

import inspect

import pytest

import quantshift
from quantshift import SLD
from quantshift.errors import UserError
from quantshift.quantifiers import AbstractQuantifier
from quantshift.quantifiers.base import catalogue

OWN = """
from quantshift import PCC
from quantshift.lab.shifts import AbstractShift
from quantshift.quantifiers import AbstractQuantifier

class Mine(PCC):
    pass

class Untagged(AbstractQuantifier):
    def _learn(self, items, codes): ...
    def _represent_items(self, items): ...
    def _solve(self, representation, index, weights=None): ...

not_a_class = 3
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_of_catalogue.py").write_text(OWN)
    return "own_of_catalogue"


def test_names_import_paths_and_files(own, tmp_path):
    assert catalogue.quantifier_class("SLD") is SLD
    assert catalogue.quantifier_class(f"{own}:Mine").__name__ == "Mine"
    assert catalogue.quantifier_class(f"{own}.py:Mine", tmp_path).__name__ == "Mine"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "SDL",
            "unknown method 'SDL'; did you mean 'SLD'? "
            '(your own: "package.module:Class" or "FILE.py:Class")',
        ),
        ("aut", "unknown method 'aut'; did you mean 'auto'?"),
        ("nowhere:Mine", "cannot import 'nowhere': ModuleNotFoundError: No module named 'nowhere'"),
        ("{own}:Mime", "unknown name in '{own}': 'Mime'; did you mean 'Mine'?"),
        ("{own}:not_a_class", "'{own}:not_a_class' is not a class; name one"),
        ("{own}:AbstractQuantifier", "'{own}:AbstractQuantifier' is not a quantifier; derive it"),
        ("fractions:Fraction", "'fractions:Fraction' is not a quantifier; derive it from"),
        ("{own}:Untagged", "'{own}:Untagged' does not say what it sees: give the class `tags"),
    ],
)
def test_what_is_not_a_method_is_one_line(own, name, message):
    with pytest.raises(UserError) as caught:
        catalogue.quantifier_class(name.format(own=own), other_names=["auto"])
    assert str(caught.value).startswith(message.format(own=own))
    assert "\n" not in str(caught.value)


def test_the_recommended_ones_are_at_the_root_and_all_in_their_room():
    offered = {
        name
        for name in quantshift.quantifiers.__all__
        if inspect.isclass(cls := getattr(quantshift.quantifiers, name))
        and issubclass(cls, AbstractQuantifier)
        and not inspect.isabstract(cls)
    }
    assert offered == set(catalogue.quantifiers())
    assert offered & set(quantshift.__all__) == set(catalogue.recommended())
