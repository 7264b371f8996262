"""The pictures that guides make: their blocks run, and a browser opens the page of the tutorial.

The PNG contains the text that the tutorial shows next to it, so that a test can check that both
come from the same run. Needs Chromium; without it the picture is not changed.

    python -m website.screenshot
"""

import io
import os
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from website.examples import run_page
from website.pages import DOCS, name_of

TUTORIAL = DOCS / "guides" / "own-data.md"
PICTURE = DOCS / "pictures" / "quantify-page.png"
PAGE = "weeks.html"
ASSUMPTIONS = DOCS / "guides" / "assumptions.md"
CHART, CHART_PICTURE = "groups.png", DOCS / "pictures" / "left-out-groups.png"
"""A chart that this guide draws, and its path in the documentation."""

SIZE = (1180, 1160)
SHOWN = "shown"
"""Key of the text in the PNG."""


def draw(program: str) -> None:
    """Run the guides, take a screenshot of the tutorial's page and keep the chart."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = run_page(TUTORIAL, Path(folder).resolve())
        (text,) = [output.real for output in outputs if f"page in {PAGE}" in output.real]
        pixels = photograph(Path(folder) / PAGE, program)
    with tempfile.TemporaryDirectory() as folder:
        run_page(ASSUMPTIONS, Path(folder).resolve())
        shutil.copyfile(Path(folder) / CHART, CHART_PICTURE)
    information = PngInfo()
    information.add_itxt(SHOWN, text)
    picture = Image.open(io.BytesIO(pixels)).convert("RGB")
    picture.save(PICTURE, optimize=True, pnginfo=information)


def photograph(page: Path, program: str) -> bytes:
    """A PNG of the top of a page with charts."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        tab = browser.new_page(
            viewport={"width": SIZE[0], "height": SIZE[1]}, reduced_motion="reduce"
        )
        tab.goto(page.resolve().as_uri())
        tab.wait_for_selector("svg, canvas")
        tab.wait_for_load_state("networkidle")
        pixels = tab.screenshot()
        browser.close()
    return pixels


def main() -> None:
    """Take the screenshot again."""
    program = os.environ.get("QUANTSHIFT_CHROMIUM") or shutil.which("chromium")
    if program:
        draw(program)
    else:
        print(f"no Chromium found; {name_of(PICTURE)} is not changed", file=sys.stderr)


if __name__ == "__main__":
    main()
