"""The doors: what is exported is there, in order, and stays outside until it is asked for."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import quantshift
from quantshift import catalogue

ROOMS = sorted(
    f"quantshift.{room.name}"
    for room in pkgutil.iter_modules(quantshift.__path__)
    if room.ispkg and room.name != "cli"
)


@pytest.mark.parametrize("name", ["quantshift", *ROOMS])
def test_every_export_is_there_and_listed(name):
    door = importlib.import_module(name)
    assert door.__all__, "a door without names"
    assert len(set(door.__all__)) == len(door.__all__)
    for export in door.__all__:
        assert export in dir(door)
        assert getattr(door, export) is not None


@pytest.mark.parametrize("name", ["quantshift", *ROOMS])
def test_an_unknown_name_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = importlib.import_module(name).nonsense


def test_the_package_imports_no_frames_and_no_files():
    assert _imported("quantshift", {"polars", "pydantic", "matplotlib", "jinja2", "typer"}) == set()


@pytest.mark.parametrize("room", ["quantshift.report", "quantshift.own_data"])
def test_figures_are_drawn_by_those_who_ask_for_them(room):
    assert _imported(room, {"matplotlib"}) == set()


def test_the_catalogue_imports_nothing_and_misses_nothing():
    code = "from quantshift import catalogue; catalogue.quantifiers(); catalogue.shifts()"
    assert _imported("quantshift", {"polars", "pydantic"}, code) == set()
    base = quantshift.AbstractQuantifier
    exports = [getattr(quantshift, name) for name in quantshift.__all__]
    offered = {e for e in exports if isinstance(e, type) and issubclass(e, base)}
    assert set(catalogue.quantifiers().values()) == {
        cls for cls in offered if not cls.__name__.startswith("Abstract")
    }


def test_quantify_is_the_function_also_after_its_room_was_imported():
    importlib.import_module("quantshift.own_data")
    from quantshift import quantify

    assert callable(quantify)
    assert quantify is quantshift.own_data.quantify


def _imported(module: str, heavy: set[str], code: str = "") -> set[str]:
    """Which of the heavy packages a fresh Python has loaded after the import."""
    script = f"import sys, {module}\n{code}\nprint(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    return set(ast.literal_eval(done.stdout))


def test_guides_and_examples_import_no_deeper_than_a_room():
    root = Path(__file__).parent.parent
    pages = [*root.glob("docs/**/*.md"), *root.glob("examples/*.py"), root / "README.md"]
    deep = re.compile(r"^(?:from|import) (quantshift\.\w+\.\w[\w.]*)", re.MULTILINE)
    assert {
        page.name: deep.findall(page.read_text()) for page in pages if deep.search(page.read_text())
    } == {}


@pytest.mark.parametrize("name", ROOMS)
def test_no_export_has_the_name_of_a_module_of_its_room(name):
    room = importlib.import_module(name)
    modules = {module.name for module in pkgutil.iter_modules(room.__path__)}
    assert modules.isdisjoint(room.__all__)
