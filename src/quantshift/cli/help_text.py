"""Help texts as they were written, filling the width of the terminal.

Typer would keep the docstrings' line breaks, and take words in square brackets for markup.
"""

import inspect
import re

import typer


def fill_width(app: typer.Typer) -> None:
    """Join the lines of each paragraph in all help texts of the app; indented lines stay."""
    for command in app.registered_commands:
        if command.callback is not None:
            command.help = flowing(command.help or inspect.getdoc(command.callback) or "")
    group = app.registered_callback
    if group is not None and group.callback is not None and group.callback.__doc__:
        group.help = flowing(group.callback.__doc__)
    for nested in app.registered_groups:
        if nested.typer_instance is not None:
            fill_width(nested.typer_instance)


def flowing(text: str) -> str:
    r"""The text with one line per paragraph; brackets are escaped, unless they are already.

    >>> flowing("One\nsentence.\n\n    an example\n\nAnother\none.")
    'One sentence.\n\n    an example\n\nAnother one.'
    >>> print(flowing("package[extra]"), flowing(flowing("package[extra]")))
    package\[extra] package\[extra]
    """
    paragraphs = re.sub(r"(?<!\\)\[", r"\[", inspect.cleandoc(text)).split("\n\n")
    return "\n\n".join(
        paragraph if paragraph.startswith((" ", "- ")) else " ".join(paragraph.split())
        for paragraph in paragraphs
    )
