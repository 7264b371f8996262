"""The strict build: each kind of fault is found and named."""

import types

import pytest

from website import build as building
from website import reference
from website.build import BuildError, build, problems_before
from website.pages import ROOT

SETTINGS = """
[project]
site_name = "small"
nav = [{ "Home" = "index.md" }]

[project.markdown_extensions]
"website.formulas" = {}

[project.plugins.mkdocstrings.handlers.python]
paths = ["src"]
"""


@pytest.fixture
def project(tmp_path):
    """A small project; gives it a page and builds it."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "zensical.toml").write_text(SETTINGS, "utf-8")
    (tmp_path / "src").symlink_to(ROOT / "src")

    def make(page):
        (tmp_path / "docs" / "index.md").write_text(page, "utf-8")
        build(tmp_path)
        return (tmp_path / "site" / "index.html").read_text("utf-8")

    return make


@pytest.mark.slow
def test_a_sound_page_is_built(project):
    html = project("# Home\n\n[here](#home) $x$\n\n::: quantshift.metrics.ae\n")
    assert '<a href="#home">here</a> <math>' in html
    assert 'id="quantshift.metrics.ae"' in html


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ("# Home\n\n[gone](gone.md)\n", r"page does not exist"),
        ("# Home\n\n[gone](#gone)\n", r"anchor does not exist"),
        ("# Home\n\n$\\gone{x}$\n", r'Unknown command "\\gone"'),
        ("# Home\n\n::: quantshift.gone\n", r"quantshift.gone"),
    ],
)
def test_a_fault_stops_the_build_and_is_named(project, page, problem):
    with pytest.raises(BuildError, match=problem):
        project(page)


@pytest.mark.slow
def test_pages_outside_the_navigation_are_found(monkeypatch):
    listed = set(building.navigation())
    monkeypatch.setattr(building, "navigation", lambda: [*(listed - {"start.md"}), "gone.md"])
    # Whether all else is up to date is the business of test_site.py.
    assert [problem for problem in problems_before() if "navigation" in problem] == [
        "docs/start.md: is not in the navigation (zensical.toml)",
        "docs/gone.md: is in the navigation (zensical.toml) and does not exist",
    ]


def test_names_without_a_place_in_the_reference_are_found(tmp_path):
    assert set(reference.missing(tmp_path)) == set(reference.all_public_names())
    page = tmp_path / "reference" / "metrics" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text(
        '<h2 id="quantshift.metrics.ae">ae</h2><h2 id="quantshift.lab.shifts.Draw">', "utf-8"
    )
    missing = reference.missing(tmp_path)
    assert "quantshift.metrics.ae" not in missing
    assert "quantshift.metrics.rae" in missing
    # The same class under another name.
    assert "quantshift.lab.shifts.Draw" not in missing


def test_public_names_are_exports_or_definitions():
    module = types.ModuleType("mine")

    def ours():
        pass

    ours.__module__ = "mine"
    module.ours, module._private, module.join = ours, ours, str.join
    assert list(reference.public_names(module)) == ["ours"]
    module.__all__ = ["other"]
    assert list(reference.public_names(module)) == ["other"]


@pytest.mark.slow
def test_every_name_at_the_door_is_public():
    import quantshift

    names = reference.all_public_names()
    assert {f"quantshift.{name}" for name in quantshift.__all__} <= set(names)
    assert reference.undocumented() == []
