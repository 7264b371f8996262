"""Rooms above the quantifiers know what methods declare, not which methods there are."""

import ast
from pathlib import Path

import pytest

import quantshift
from quantshift.quantifiers.base import catalogue
from quantshift.quantifiers.baselines import BASELINE

ROOT = Path(quantshift.__file__).parent
METHODS = set(catalogue.quantifiers())

IMPORTED = {
    "measuring/adapting/evidence.py": {"GuardedSLD", "SLD"},
    "quantifying/training/methods.py": {"CC", "GuardedSLD", "PACC", "PCC", "SLD"},
    "lab/experiments/label_running.py": {"MLPE", "PACC", "PCC", "SLD"},
    "labelling/audit.py": {"PACC"},
    "measuring/performances.py": {"SLD"},
    "multilabel/label_by_label.py": {"SLD"},
    "multilabel/regressed_shares.py": {"PCC"},
    "multilabel/sets_as_classes.py": {"SLD"},
    "multilabel/tilted_label_sets.py": {"SLD"},
}
"""The only modules that import methods: they say what is used if the user names none."""

NAMED = {
    "lab/analysis/methods.py": "the methods of the paper, and the order of rows in tables",
    "cli/commands/first_steps/example.py": "commands to try, which name methods",
    "cli/demonstration.py": "the method that the demonstration adds to those of the paper",
    "lab/leaderboard/published.py": "what other publications call the same methods",
    "lab/paper/findings.py": "what the paper claims about its six methods",
    "lab/report/figures/collection.py": "a figure of the paper shows two methods",
    "lab/report/style/marks.py": "colours and markers of the paper's methods",
}
"""The only modules that have names of methods as text, and why."""


@pytest.fixture(scope="module")
def modules() -> dict[str, ast.Module]:
    """The modules of all rooms but the quantifiers' own, by their path."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(ROOT.rglob("*.py"))
        if path.relative_to(ROOT).parts[0] != "quantifiers"
    }


def imported_methods(tree: ast.Module) -> set[str]:
    """Methods of the catalogue that a module imports, or takes as attributes of the package."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("quantshift"):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            whose = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
            found |= {node.attr} if whose in {"quantshift", "quantifiers"} else set()
    return found & METHODS


def named_methods(tree: ast.Module) -> set[str]:
    """Names of methods that a module holds as text."""
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    } & METHODS


def test_only_a_short_list_of_defaults_is_imported(modules):
    found = {name: imported_methods(tree) for name, tree in modules.items()}
    assert {name: methods for name, methods in found.items() if methods} == IMPORTED


def test_no_module_decides_by_the_name_of_a_method(modules):
    assert {name for name, tree in modules.items() if named_methods(tree)} == set(NAMED)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("from quantshift.quantifiers.likelihood.sld import SLD", {"SLD"}),
        ("from quantshift import PCC as mean", {"PCC"}),
        ("import quantshift\nquantshift.quantifiers.Median()", {"Median"}),
        ("from quantshift.quantifiers.counting.counting import hard_predictions", set()),
    ],
)
def test_the_rule_finds_what_it_forbids(code, found):
    assert imported_methods(ast.parse(code)) == found
    assert named_methods(ast.parse("def f(q):\n    return type(q).__name__ in {'DyS', 'no'}")) == {
        "DyS"
    }


def test_the_baseline_sees_nothing_of_a_sample():
    assert not catalogue.quantifiers()[BASELINE].tags.sees
    others = [n for n, cls in catalogue.quantifiers().items() if not cls.tags.sees]
    assert others == [BASELINE]
