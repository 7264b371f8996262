"""The README is short, and what it says is there (the commands run in `test_docs`)."""

import re
from pathlib import Path

import polars as pl
import pytest

from quantshift.quantifiers.base import catalogue
from website.overview import ERRORS, METHODS, PICTURE, SHIFTS
from website.package_readme import for_package_index, relative_links

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_has_a_screen_and_a_half() -> None:
    assert len(README.splitlines()) <= 60
    # One picture, which is drawn by a command (`website.three_kinds`).
    assert re.findall(r"!\[[^]]*\]\(([^)]+)\)", README) == ["docs/pictures/three-kinds.svg"]


def test_the_answers_are_those_of_the_guides() -> None:
    shown = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    commands = re.findall(r"^(quantshift [^#\n]*?) *(?:#.*)?$", README, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        assert f"$ {command}\n" in shown
    answers = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    assert len(answers) == 2
    for line in "".join(answers).splitlines():
        assert f"{line}\n" in shown


def test_the_figures_are_those_of_the_guides() -> None:
    start = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    (counted,) = re.findall(r"predictions, counted, say (\d+)%", README)
    assert re.search(rf"^positive: {counted}\.\d% of the 500 items", start, re.MULTILINE)
    (held,) = re.findall(r"contained the truth in (\d+)%", README)
    choose = (ROOT / "docs" / "choose.md").read_text(encoding="utf-8")
    (measured,) = re.findall(r"the range holds (0\.\d+) ± [\d.]+ of the truths", choose)
    assert f"{100 * float(measured):.0f}" == held


def test_it_counts_the_quantifiers() -> None:
    assert f" {len(catalogue.quantifiers())} [quantifiers]" in README


def test_the_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"(?:^|`)make ([a-z-]+)", README, re.MULTILINE)
    assert {"demo", "test", "docs"} <= set(targets)
    for target in targets:
        assert f"\n{target}:" in makefile, target


def test_the_picture_shows_the_measured_errors() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert f"]({PICTURE.relative_to(ROOT / 'docs').as_posix()})" in index
    shown = re.findall(r">(0\.\d{3})<", PICTURE.read_text(encoding="utf-8"))
    errors = pl.read_csv(ERRORS)
    measured = {(part, method): mean for part, method, mean, *_ in errors.iter_rows()}
    assert shown == [f"{measured[part, method]:.3f}" for part in SHIFTS for method in METHODS]


def test_the_picture_has_a_background_of_its_own() -> None:
    # So that it can be read on white and on dark pages.
    assert "fill: #fbfbfd" in PICTURE.read_text(encoding="utf-8")


@pytest.mark.parametrize("repository", ["https://github.com/example/quantshift", None])
def test_a_package_index_gets_no_relative_link(repository: str | None) -> None:
    assert len(relative_links(README)) > 20
    shown = for_package_index(README, repository, "v1.0")
    assert relative_links(shown) == []
    where = "/quantshift/raw/v1.0/docs/pictures/three-kinds.svg)"
    assert (where in shown) is (repository is not None)
    # Without a public address the words stay, and no picture is announced.
    assert "![" not in shown or repository is not None
    assert "reproducing the paper" in shown


def test_relative_links_lead_to_files() -> None:
    for target in relative_links(README):
        assert (ROOT / target.partition("#")[0]).exists(), target


def test_the_built_metadata_has_no_relative_link() -> None:
    metadata = pytest.importorskip("hatchling.metadata.core", reason="hatchling is not installed")
    manager = pytest.importorskip("hatchling.plugin.manager")
    project = metadata.ProjectMetadata(str(ROOT), manager.PluginManager())
    assert project.core.readme_content_type == "text/markdown"
    assert project.core.readme.startswith("# quantshift")
    assert relative_links(project.core.readme) == []
