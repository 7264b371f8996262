"""The public API is the one that was written down: no name or default changes unnoticed."""

import inspect
import re
from abc import ABCMeta

import pytest

from tests.public_api import FILE, described, exports, public_api

REFRESH = "python tests/public_api.py --write"


def test_the_public_api_is_the_one_on_file():
    on_file, now = FILE.read_text(encoding="utf-8").splitlines(), public_api().splitlines()
    gone, new = sorted(set(on_file) - set(now)), sorted(set(now) - set(on_file))
    assert (gone, new) == ([], []), (
        f"the public API has changed; read docs/stability.md, add a line to CHANGELOG.md, and "
        f"write it down with: {REFRESH}"
    )
    assert on_file == now


def test_a_changed_default_and_a_new_method_are_seen():
    class Before:
        def fit(self, X, *, level=0.95):
            """A method."""

    class After:
        def fit(self, X, *, level=0.9):
            """A method."""

        def predict(self):
            """Another."""

    for cls in (Before, After):
        for function in vars(cls).values():
            if callable(function):
                function.__module__ = "quantshift"
    assert described("A", Before) == ["A()", "A.fit(self, X, *, level=0.95)"]
    assert described("A", After) == ["A()", "A.fit(self, X, *, level=0.9)", "A.predict(self)"]


def test_what_the_root_exports_has_examples_and_tables_of_parameters():
    """The doctests of all modules run with the tests."""
    public = {
        name: value
        for name, value in exports().items()
        if inspect.isclass(value) or inspect.isroutine(value)
        if "." not in name or (name.startswith("quantifiers.") and isinstance(value, ABCMeta))
    }
    assert len(public) > 85
    without = {name for name, value in public.items() if ">>> " not in (value.__doc__ or "")}
    assert without <= {"quantifiers.AbstractClassifying"}
    functions = {name: value for name, value in public.items() if inspect.isroutine(value)}
    bare = [name for name, value in functions.items() if "Parameters\n" not in value.__doc__]
    assert bare == []


@pytest.mark.parametrize(
    "function",
    [
        value
        for value in exports().values()
        if inspect.isroutine(value) and "Parameters\n" in (value.__doc__ or "")
    ],
    ids=lambda function: function.__name__,
)
def test_a_table_of_parameters_names_each_of_them(function):
    section = inspect.getdoc(function).partition("Parameters\n----------\n")[2]
    section = re.split(r"\n\n\w+\n-+\n", section)[0]
    named = {
        name.strip().lstrip("*")
        for line in section.splitlines()
        if line and not line.startswith(" ")
        for name in line.partition(" : ")[0].split(",")
    }
    elsewhere = set(re.findall(r"and so is `(\w+)`", section))
    assert named | elsewhere == set(inspect.signature(function).parameters)
