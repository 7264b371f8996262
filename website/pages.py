"""The pages of the documentation."""

import re
from pathlib import Path

from quantshift.quantifiers.base.estimator import AbstractQuantifier

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def pages() -> list[Path]:
    """The README and every page of the documentation."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def name_of(page: Path) -> str:
    """The name of a page in messages and tests.

    >>> name_of(DOCS / "guides" / "audit.md")
    'docs/guides/audit.md'
    """
    return page.relative_to(ROOT).as_posix()


def page_of_method(cls: type[AbstractQuantifier]) -> Path | None:
    """The page of a quantifier, or that of its family, which is named after the module.

    >>> from quantshift import KDEyML, SubclassSLD
    >>> [name_of(page_of_method(cls)) for cls in (KDEyML, SubclassSLD)]
    ['docs/quantifiers/kdey.md', 'docs/quantifiers/subclass-sld.md']
    """
    stem_of_class = re.sub(r"(?<=[a-z])(?=[A-Z]{2})", "-", cls.__name__).lower()
    family = cls.__module__.rpartition(".")[2].replace("_", "-")
    for stem in (stem_of_class, family):
        page = DOCS / "quantifiers" / f"{stem}.md"
        if page.exists():
            return page
    return None
