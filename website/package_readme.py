"""The README for a package index such as PyPI, which does not resolve relative links.

`hatch_build.py` uses it when a distribution is built. Links and pictures lead to the repository in
`[project.urls]` of `pyproject.toml`, at the tag of the version. As long as the project has no
public address, links become plain text and pictures are left out.
"""

import re

_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:|#")


def for_package_index(readme: str, repository: str | None, tag: str) -> str:
    """The README without relative links.

    repository: its address, with the layout of GitHub (`/blob/TAG/` for files, `/raw/TAG/` for
        pictures).

    >>> for_package_index("[a](docs/a.md)", "https://github.com/example/project", "v1.0")
    '[a](https://github.com/example/project/blob/v1.0/docs/a.md)'
    >>> for_package_index("See [a](docs/a.md). ![b](b.png)", None, "v1.0")
    'See a. '
    """

    def absolute(link: re.Match[str]) -> str:
        picture, text, target = link.groups()
        if _ABSOLUTE.match(target):
            return link[0]
        if repository is None:
            return "" if picture else text
        kind = "raw" if picture else "blob"
        return f"{picture}[{text}]({repository.rstrip('/')}/{kind}/{tag}/{target})"

    return _LINK.sub(absolute, readme)


def relative_links(readme: str) -> list[str]:
    """The targets that a package index could not resolve.

    >>> relative_links("[a](docs/a.md) [b](https://example.org) ![c](c.png)")
    ['docs/a.md', 'c.png']
    """
    targets = [target for _, _, target in _LINK.findall(readme)]
    return [target for target in targets if not _ABSOLUTE.match(target)]
