"""The site: checked, built into `site/`, and checked again.

    python -m website.build

Exits with 1 and a line for everything that is wrong: a table that is out of date, a page missing in
the navigation, a broken link or anchor, a public name without docstring or not in the reference.
"""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from website import blocks, json_schemas, links, measured, reference
from website.pages import DOCS, ROOT, name_of, pages

SITE = ROOT / "site"
CONFIGURATION = ROOT / "zensical.toml"


def problems_before() -> Iterator[str]:
    """What is wrong with the pages before they are built."""
    for page in blocks.stale():
        yield f"{name_of(page)}: a generated block is out of date; run `make docs-refresh`"
    tables = measured.measured_blocks(measured.FIGURES)
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if measured.fill_blocks(text, tables) != text:
            yield f"{name_of(page)}: a measured table is out of date; run `make docs-refresh`"
    for file in json_schemas.stale():
        yield f"{name_of(file)}: is out of date; run `make docs-refresh`"
    existing = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    listed = set(navigation())
    for name in sorted(existing - listed):
        yield f"docs/{name}: is not in the navigation (zensical.toml)"
    for name in sorted(listed - existing):
        yield f"docs/{name}: is in the navigation (zensical.toml) and does not exist"
    for name in reference.undocumented():
        yield f"{name}: is public and has no docstring"


def problems_after(site: Path) -> Iterator[str]:
    """What is wrong with the built site."""
    for link in links.broken(site):
        yield f"broken link in {link}"
    for name in reference.missing(site):
        yield f"{name}: is public and not in the reference (docs/reference)"


def navigation() -> list[str]:
    """The pages that the navigation lists."""
    settings = tomllib.loads(CONFIGURATION.read_text(encoding="utf-8"))
    return list(_leaves(settings["project"]["nav"]))


class BuildError(Exception):
    """The site cannot be built; the message is the tool's output."""


def build(root: Path) -> None:
    """Build the site of the project in `root`; a broken link or formula is an error."""
    # The site's own Markdown extensions are in this package.
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        output = re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
        # Only the traceback of the strict mode follows after the list of issues.
        raise BuildError(re.sub(r"(\n\d+ issues? found\n).*", r"\1", output, flags=re.DOTALL))


def _leaves(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from _leaves(entry)


def main() -> int:
    """Build the site and report what is wrong."""
    wrong = list(problems_before())
    if not wrong:
        try:
            build(ROOT)
            wrong = list(problems_after(SITE))
        except BuildError as error:
            wrong = [str(error)]
    for line in wrong:
        print(line, file=sys.stderr)
    if not wrong:
        print(f"site in {SITE.relative_to(ROOT)}/; `python -m http.server -d site` serves it")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
