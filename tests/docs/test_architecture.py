"""The map of the package is complete, and its promises about folders hold."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from website.pages import ROOT

PACKAGE = ROOT / "src" / "quantshift"
MODULES = [
    path.relative_to(PACKAGE)
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.stem not in {"__init__", "__main__"}
]
MOST_MODULES = 15
MOST_LOOSE = 3


@pytest.fixture(scope="module")
def entries() -> dict[str, str]:
    """What the map says of each subpackage, in its order."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    tree = page.partition("src/quantshift/\n")[2].partition("\ntests/")[0]
    parts = re.split(r"^[ \d]{2}  (\w+)/", tree, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_module_is_in_the_map(entries: dict[str, str]) -> None:
    assert entries.keys() == {path.parts[0] for path in MODULES if len(path.parts) > 1}
    lost = [
        path.as_posix()
        for path in MODULES
        if len(path.parts) > 1 and not is_named(path, entries[path.parts[0]])
    ]
    assert lost == []


def is_named(path: Path, entry: str) -> bool:
    """Whether the entry of a subpackage has the folders and the module of a path."""
    folders = all(f"{folder}/" in entry for folder in path.parts[1:-1])
    return folders and re.search(rf"\b{path.stem}\b", entry) is not None


def test_the_map_is_in_the_order_of_the_layers(entries: dict[str, str]) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    layers = [re.findall(r"quantshift\.(\w+)", layer) for layer in reversed(contract["layers"])]
    height = {room: i for i, layer in enumerate(layers) for room in layer}
    heights = [height[room] for room in entries]
    assert heights == sorted(heights)


def test_no_folder_has_too_many_modules() -> None:
    levels = Counter(path.parent.as_posix() for path in MODULES)
    wide = {folder for folder, n in levels.items() if n > MOST_MODULES}
    assert not wide
    assert levels["."] <= MOST_LOOSE
