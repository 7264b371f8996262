"""The part of the changelog for a tag, checked: `python packaging/release_notes.py v1.2.3`.

Links to pages of the documentation become links to the site of that version. Exits with 1 and a
line if the tag is not the version of the package, or the changelog has no part with that version as
its title.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = re.compile(r"\]\((?!https?://)([\w/-]+?)(?:/index)?\.md(#[\w-]+)?\)")
"""A link to another page: `](guides/judge.md#labels)`; `suites/index.md` is the page `suites`."""


def notes(tag: str, package: str, changelog: str) -> str:
    """The text under the title of the version.

    package: the source of `__init__.py`.
    """
    version = re.search(r'^__version__ = "(.+)"', package, re.MULTILINE)
    if version is None or tag != f"v{version[1]}":
        raise ValueError(f"the tag is {tag}, the package {version[1] if version else 'has none'}")
    parts = re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]
    for part in parts:
        title, _, text = part.partition("\n")
        if re.match(rf"\[?{re.escape(version[1])}\]?(\s|$)", title):
            return text.strip() + "\n"
    raise ValueError(f"CHANGELOG.md has no part for {version[1]}")


def with_addresses(text: str, site: str) -> str:
    """The text with links that work outside the site. site: the address of its start page."""
    return PAGE.sub(lambda link: f"]({site}/{link[1]}/{link[2] or ''})", text)


def main(tag: str) -> str | None:
    """Print the notes; the message of an error is for `sys.exit`."""
    package = (ROOT / "src" / "quantshift" / "__init__.py").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    site = f"{project['urls']['Documentation']}/{tag.removeprefix('v')}"
    try:
        sys.stdout.write(with_addresses(notes(tag, package, changelog), site))
    except ValueError as error:
        return str(error)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
