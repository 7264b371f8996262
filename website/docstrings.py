"""Docstrings as Markdown, for mkdocstrings: ours are plain text, which Markdown would garble.

Columns (`name   what it is`, continued under the words) become lists, examples after `>>>`
become code, and sections of numpydoc lists under a bold name.
"""

import re
from collections.abc import Iterator
from typing import Any

import griffe

_LISTED = ("Parameters", "Attributes", "Returns")
_ENTRY = re.compile(r"(?P<name>\S+(?:, \S+)*)(?P<gap> {2,}|: )(?P<words>\S.*)")


def as_markdown(docstring: str) -> str:
    """The docstring, with its columns and examples as Markdown.

    >>> print(as_markdown("Sizes:\\n\\nn    how many\\n     items\\nname a name"))
    Sizes:
    <BLANKLINE>
    n    how many
         items
    name a name
    >>> print(as_markdown("n     how many\\n      items\\nname  a name"))
    - `n`: how many items
    - `name`: a name
    >>> print(as_markdown("Parameters\\n----------\\nn : int\\n    How many\\n    items."))
    **Parameters**
    <BLANKLINE>
    - `n` (int): How many items.
    """
    return "\n\n".join(map(_paragraph, re.split(r"\n\s*\n", docstring)))


def _paragraph(text: str) -> str:
    lines = text.splitlines()
    if len(lines) > 2 and lines[1] and set(lines[1]) == {"-"}:
        rest = "\n".join(lines[2:])
        listed = _parameters(lines[2:]) if lines[0] in _LISTED else _paragraph(rest)
        return f"**{lines[0]}**\n\n{listed}"
    if lines and lines[0].lstrip().startswith(">>> "):
        return "```pycon\n" + text + "\n```"
    entries = list(_entries(lines))
    if not entries:
        return text
    return "\n".join(f"- `{name}`: {words}" for name, words in entries)


def _parameters(lines: list[str]) -> str:
    """The parameters of a section as a list, each with its type and its indented words."""
    listed: list[str] = []
    for line in lines:
        if line.startswith(" ") and listed:
            listed[-1] += f" {line.strip()}"
        else:
            name, _, kind = line.partition(" : ")
            listed.append(f"- `{name}`" + (f" ({kind}):" if kind else ":"))
    return "\n".join(entry.removesuffix(":") for entry in listed)


def _entries(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Names and words of a paragraph in columns; nothing if it is not in columns.

    The words begin in the same column on every line, or are indented under `name: words`.
    """
    parts = [_ENTRY.fullmatch(line) for line in lines]
    first = parts[0] if parts else None
    if first is None or not _in_columns(lines, first):
        return
    if any(part is None for line, part in zip(lines, parts, strict=True) if line[0] != " "):
        return
    name, words = "", ""
    for line, part in zip(lines, parts, strict=True):
        if line.startswith(" "):
            words += f" {line.strip()}"
            continue
        assert part is not None
        if name:
            yield name, words
        name, words = part["name"], part["words"]
    yield name, words


def _in_columns(lines: list[str], first: re.Match[str]) -> bool:
    if first["gap"] == ": ":
        # `name: words` is a list if every line is an entry of an identifier, or indented.
        return all(re.match(r"\w+(?:, \w+)*: \S|  ", line) for line in lines)
    column = first.start("words")
    return all(
        len(line) > column and line[column] != " " and line[column - 2 : column] == "  "
        for line in lines
    )


class Docstrings(griffe.Extension):
    """The extension of griffe, which reads the sources for mkdocstrings."""

    def on_object(self, *, obj: griffe.Object, **options: Any) -> None:
        """Rewrite the object's docstring."""
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
