"""The words that people search for are on the pages that answer them; archaic turns are gone."""

import re
from pathlib import Path

import pytest

from website.pages import DOCS, ROOT, name_of, pages

SEARCHED = {
    "confidence interval": (
        "guides/own-data",
        "guides/is-it-true",
        "guides/audit",
        "glossary",
        "faq",
    ),
    "drift": ("guides/monitoring", "shifts", "glossary", "index"),
    "label shift": ("shifts", "glossary"),
    "calibration": ("quantifiers/sld", "glossary"),
    "ground truth": ("glossary",),
    "pandas": ("guides/own-data", "faq"),
    "notebook": ("notebooks/last-year", "notebooks/judge", "guides/own-data"),
    "alert": ("guides/monitoring", "faq"),
    "categorical": ("guides/columns", "faq"),
    "missing values": ("guides/columns", "guides/data-sets", "faq"),
    "LLM judge": ("guides/judge", "notebooks/judge", "glossary"),
    "docker": ("faq",),
}
"""What people type into the search, and pages that must have it."""

ARCHAIC = (
    r"\bmend(?:s|ed)?\b",
    r"\blest\b",
    r"\bis no number\b",
    r"\bin small\b",
    r"\bfor they\b",
    r"\bwhoever\b",
    r"\bthereof\b",
    r"\byardstick\b",
    r"\bin the race\b",
    r"\bthe rooms?\b",
    r"\bfront door\b",
    r"\bone's own\b",
    r"\breckon",
    r"\bvouch",
    r"\bbrings? about\b",
    r"\banew\b",
    r"\bHow sure\b|\bhow sure that is\b",
    r"\d %",
)
"""Turns that a reader of today stumbles over."""

OWN_PAGES = [page for page in pages() if page.name != "changelog.md"]


@pytest.mark.parametrize("words", SEARCHED)
def test_the_pages_have_the_words_that_people_search_for(words: str) -> None:
    for name in SEARCHED[words]:
        text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        assert words.casefold() in re.sub(r"\s+", " ", text).casefold(), f"docs/{name}.md"


@pytest.mark.parametrize("page", OWN_PAGES, ids=name_of)
def test_no_archaic_turns(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [turn for turn in ARCHAIC if re.search(turn, text, re.IGNORECASE)] == []


@pytest.mark.slow
def test_the_search_index_has_them(site: Path) -> None:
    """The index of the built site, which the search reads."""
    (index,) = site.rglob("search.json")
    text = re.sub(r"\s+", " ", index.read_text(encoding="utf-8")).casefold()
    assert [words for words in SEARCHED if words.casefold() not in text] == []


def test_the_words_are_about_pages_that_exist() -> None:
    assert ROOT in DOCS.parents
    for names in SEARCHED.values():
        assert all((DOCS / f"{name}.md").exists() for name in names)
