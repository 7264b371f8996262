"""Exports: every name is there, listed once, and imported only when it is used."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import quantshift.lab
from quantshift.quantifiers.base import catalogue

PACKAGES = sorted(
    f"quantshift.{package.name}"
    for folders, prefix in ((quantshift.__path__, ""), (quantshift.lab.__path__, "lab."))
    for package in pkgutil.iter_modules(folders, prefix)
    if package.ispkg and package.name not in {"cli", "lab"}
)


@pytest.mark.parametrize("name", ["quantshift", *PACKAGES])
def test_every_export_is_there_and_listed(name):
    package = importlib.import_module(name)
    assert package.__all__, "a package without exports"
    assert len(set(package.__all__)) == len(package.__all__)
    for export in package.__all__:
        assert export in dir(package)
        assert getattr(package, export) is not None


@pytest.mark.parametrize("name", ["quantshift", *PACKAGES])
def test_an_unknown_name_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=r"attribute '?nonsense"):
        _ = importlib.import_module(name).nonsense


def test_the_package_imports_no_frames_and_no_files():
    assert _imported("quantshift", {"polars", "pydantic", "matplotlib", "jinja2", "typer"}) == set()


@pytest.mark.parametrize("package", ["quantshift.lab.report", "quantshift.quantifying"])
def test_figures_are_drawn_by_those_who_ask_for_them(package):
    assert _imported(package, {"matplotlib"}) == set()


def test_the_catalogue_imports_nothing_and_misses_nothing():
    code = (
        "from quantshift.quantifiers.base import catalogue\n"
        "from quantshift.lab.shifts.catalogue import protocols\n"
        "catalogue.quantifiers(); protocols()"
    )
    assert _imported("quantshift", {"polars", "pydantic"}, code) == set()
    assert set(catalogue.recommended()) < set(quantshift.__all__)


def test_quantify_is_the_function_also_after_its_package_was_imported():
    importlib.import_module("quantshift.quantifying")
    from quantshift import quantify

    assert callable(quantify)
    assert quantify is quantshift.quantifying.quantify


def _imported(module: str, heavy: set[str], code: str = "") -> set[str]:
    """Which of the heavy packages a fresh Python has loaded after the import."""
    script = f"import sys, {module}\n{code}\nprint(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    return set(ast.literal_eval(done.stdout))


def test_guides_and_examples_import_no_deeper_than_a_package():
    root = Path(__file__).parent.parent
    pages = [*root.glob("docs/**/*.md"), *root.glob("examples/**/*.py"), root / "README.md"]
    deep = re.compile(r"^(?:from|import) (quantshift\.(?:lab\.\w+|(?!lab\b)\w+)\.\w[\w.]*)", re.M)
    assert {
        page.name: deep.findall(page.read_text()) for page in pages if deep.search(page.read_text())
    } == {}


@pytest.mark.parametrize("name", PACKAGES)
def test_no_export_has_the_name_of_a_module_of_its_package(name):
    package = importlib.import_module(name)
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert modules.isdisjoint(package.__all__)
