"""The gallery: six scripts, each with a page that shows its code, what it prints and its picture.

The PNG contains what the script printed when it was drawn, so that a test can check that picture
and page come from the same run.

    python -m website.gallery [NAME...]    draw the pictures (default: all)
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from website.blocks import GALLERY
from website.pages import DOCS

PAGES = DOCS / "gallery"
COLOURS = 64
"""Enough colours for these pictures, at a third of the file size."""

SHOWN = "shown"
"""Key of the printed text in the PNG."""


def scripts() -> list[Path]:
    """The scripts of the gallery."""
    return sorted(GALLERY.glob("*.py"))


def picture_of(script: Path) -> Path:
    """The path of the picture of a script."""
    return PAGES / f"{script.stem}.png"


def page_of(script: Path) -> Path:
    """The page that shows a script."""
    return PAGES / f"{script.stem.replace('_', '-')}.md"


def draw(script: Path) -> None:
    """Run a script in an empty folder and keep its picture, with fewer colours."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, script],
            cwd=folder,
            env={**os.environ, "MPLBACKEND": "agg"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        with Image.open(Path(folder) / f"{script.stem}.png") as picture:
            small = picture.convert("RGB").quantize(COLOURS)
    information = PngInfo()
    information.add_itxt(SHOWN, done.stdout)
    small.save(picture_of(script), optimize=True, pnginfo=information)


def main(names: list[str]) -> None:
    """Draw the pictures of the named scripts (or of all)."""
    for script in scripts():
        if not names or script.stem in names:
            draw(script)


if __name__ == "__main__":
    main(sys.argv[1:])
