"""What users name by module or file is imported in one place, and fails in one line."""

import sys

import polars as pl
import pytest

from quantshift.base import imports
from quantshift.base.imports import extra_needed
from quantshift.errors import UserError
from quantshift.report.build import build_report


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
