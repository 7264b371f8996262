"""Where the pages are."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def pages() -> list[Path]:
    """The README and every page of the documentation."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def name_of(page: Path) -> str:
    """How messages and tests call a page.

    >>> name_of(DOCS / "guides" / "audit.md")
    'docs/guides/audit.md'
    """
    return page.relative_to(ROOT).as_posix()
