"""The pages: every code block runs and shows what comes out; tables are what the registries say.

`website.examples` says which blocks run, and how; `make docs-refresh` fills in outputs and tables.
"""

import re
from pathlib import Path

import pytest
from PIL import Image

from website import blocks, screenshot
from website.examples import blocks as code_blocks
from website.examples import check_page
from website.notebooks import NOTEBOOKS
from website.pages import DOCS, ROOT, name_of, pages

RUNNABLE = [
    page
    for page in pages()
    if page.parent != NOTEBOOKS  # test_notebooks.py runs these
    and {block.language for block in code_blocks(page.read_text(encoding="utf-8"))}
    & {"python", "console"}
]
HEAVY = {
    *("guides/audit", "guides/history", "guides/monitoring", "guides/own-quantifier"),
    *(
        "guides/data-sets",
        "guides/own-data",
        "guides/assumptions",
        "guides/own-experiment",
        "guides/several-labels",
    ),
    *(
        "start",
        "guides/is-it-true",
        "quantifiers/ensembles",
    ),
}
"""Pages whose blocks take many seconds."""


def _is_heavy(page: Path) -> bool:
    return name_of(page).removeprefix("docs/").removesuffix(".md") in HEAVY


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if _is_heavy(page) else [], id=name_of(page))
        for page in RUNNABLE
    ],
)
def test_a_page_shows_what_comes_out(page: Path, tmp_path: Path) -> None:
    check_page(page, tmp_path)


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_generated_tables_are_what_the_registries_say(page: Path) -> None:
    assert blocks.filled(page) == page.read_text(encoding="utf-8"), "run `make docs-refresh`"


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_links_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    for target in targets:
        file = (page.parent / target).resolve()
        assert file.exists(), target
        # The site has the docs alone; a link out of them would be broken there.
        assert page.parent == ROOT or file.is_relative_to(DOCS), target


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_a_page_knows_nothing_of_this_machine(page: Path) -> None:
    assert not re.search(r"(?<![\w/.])/(tmp|work|home|root)/", page.read_text(encoding="utf-8"))


def test_the_picture_of_the_page_is_of_the_run_that_the_tutorial_shows() -> None:
    shown = Image.open(screenshot.PICTURE).text[screenshot.SHOWN]
    assert shown in screenshot.TUTORIAL.read_text(encoding="utf-8"), "run `make docs-refresh`"
