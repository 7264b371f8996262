"""Checks the links of the built site: every page, file and anchor they lead to must exist."""

from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value for name, value in attrs if value}
        self.anchors.update(attributes[name] for name in ("id", "name") if name in attributes)
        if tag in ("a", "img", "link", "script", "source"):
            self.targets += [attributes[name] for name in ("href", "src") if name in attributes]


@cache
def _read(page: Path) -> _Reader:
    reader = _Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader


def anchors(page: Path) -> set[str]:
    """The anchors of a built page, to which links can lead."""
    return _read(page).anchors


def broken(site: Path) -> Iterator[str]:
    """The links within the site that lead nowhere."""
    for page in sorted(site.rglob("*.html")):
        if page.name == "404.html":  # its links are relative to the root of a server
            continue
        for target in _read(page).targets:
            parts = urlsplit(target)
            if not (parts.scheme or parts.netloc) and not _leads(page, parts.path, parts.fragment):
                yield f"{page.relative_to(site)}: {target}"


def _leads(page: Path, path: str, anchor: str) -> bool:
    file = (page.parent / unquote(path)).resolve() if path else page
    if file.is_dir():
        file = file / "index.html"
    if not file.is_file():
        return False
    # The theme creates anchors `#__...` when the page is used.
    return not anchor or anchor.startswith("__") or unquote(anchor) in anchors(file)
