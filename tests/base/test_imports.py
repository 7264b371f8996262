"""What users name by module or file is imported in one place, and fails in one line."""

import sys

import polars as pl
import pytest

from quantshift.base import imports
from quantshift.base.imports import extra_needed
from quantshift.classify.named import named_classifier
from quantshift.errors import UserError
from quantshift.lab.report.build import build_report
from quantshift.lab.results.failures import Failure
from quantshift.lab.shifts.catalogue import protocol_class
from quantshift.quantifiers.base.catalogue import quantifier_class
from quantshift.quantifiers.base.citations import works_of


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        return name

    return write


@pytest.mark.parametrize("text", ["Mine", "a b:Mine", "package.module:", ":Mine", "a:b:c", "a.:b"])
def test_what_has_another_form_is_refused(text):
    assert not imports.is_import_path(text)
    with pytest.raises(UserError, match=r"is not of the form package.module:name"):
        imports.imported(text)


OWN = """
from sklearn.linear_model import LogisticRegression
from quantshift import CC, PriorShift

class Mine(CC):
    "Mine: counts."

class MyShift(PriorShift):
    name = "mine"

class Fails(CC):
    "Fails: always."

    def _solve(self, representation, index, weights=None):
        raise RuntimeError("no way")

model = LogisticRegression(C=3.0)
"""


def test_a_file_is_named_wherever_a_module_is(tmp_path, monkeypatch):
    """Only `quantify --method` and `bench --add` took files."""
    (tmp_path / "own methods.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    assert quantifier_class("own methods.py:Mine").__name__ == "Mine"
    assert protocol_class("own methods.py:MyShift").name == "mine"
    assert named_classifier("own methods.py:model").C == 3.0
    assert works_of(["own methods.py:Mine"]) == []
    for wrong in ("own methods.py:Min", "own methods.py:mode"):
        with pytest.raises(UserError, match="did you mean"):
            imports.imported(wrong)
    with pytest.raises(UserError, match="there is no Python file"):
        imports.imported_class("others.py:Mine")


def test_a_failure_names_the_file_and_line_of_a_user_s_method(tmp_path, monkeypatch):
    (tmp_path / "failing.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    method = quantifier_class("failing.py:Fails")().fit([[0.0], [1.0]] * 10, [0, 1] * 10)
    with pytest.raises(RuntimeError) as raised:
        method.predict([[0.0]])
    line = OWN.splitlines().index('        raise RuntimeError("no way")') + 1
    failure = Failure.of({"Fails": "0"}, raised.value)
    # The frame of this test is outside the package, too, and not the last.
    assert failure.message == f"no way (failing.py, line {line})"


def test_names_may_have_dots(module):
    name = module("own_nested", "class Outer:\n    class Inner:\n        pass\n")
    assert imports.imported_class(f"{name}:Outer.Inner").__qualname__ == "Outer.Inner"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("own_broken", "1 / 0", "cannot import 'own_broken': ZeroDivisionError: division by zero"),
        ("own_syntax", "def", "cannot import 'own_syntax': SyntaxError: invalid syntax"),
        ("own_exit", "import sys\nsys.exit(3)", "SystemExit: 3 (it calls sys.exit)"),
        ("own_lines", "raise ValueError('one\\n two')", "ValueError: one two"),
    ],
)
def test_whatever_a_module_raises_is_one_line(module, name, text, message):
    with pytest.raises(UserError) as caught:
        imports.imported(f"{module(name, text)}:Mine")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_ctrl_c_while_importing_is_not_an_error_of_the_module(module):
    name = module("own_interrupted", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        imports.imported(f"{name}:Mine")


def test_a_class_that_needs_arguments_cannot_be_made():
    def needy(argument):
        return argument

    with pytest.raises(UserError, match=r"'a:b' cannot be made without arguments: TypeError"):
        imports.made("a:b", needy)


@pytest.fixture
def no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def test_a_report_with_figures_names_the_extra_before_it_begins(no_matplotlib, tmp_path) -> None:
    with pytest.raises(UserError, match=r"figures .* need matplotlib.*quantshift\[report\]"):
        build_report(pl.DataFrame(), tmp_path / "report", formats=["html", "pdf"])
    assert not (tmp_path / "report").exists()


def test_a_missing_module_of_our_own_is_no_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError), extra_needed("plots"):
        import quantshift.nothing_of_this_name  # noqa: F401
