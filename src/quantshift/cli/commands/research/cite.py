"""`quantshift cite`: BibTeX of quantshift and of the publications behind methods."""

from typing import Annotated

import typer


def cite(
    methods: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="METHOD...",
            help="Quantifiers, as `quantshift list` names them, or your own as FILE.py:Class "
            "(default: quantshift alone, and the paper whose experiments it reproduces).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print BibTeX of quantshift, and of the publications behind the methods you used.

    Examples:

    quantshift cite

    quantshift cite SLD PACC KDEyML >> references.bib
    """
    from quantshift.quantifiers.base.citations import bibtex

    typer.echo(bibtex(methods or []))
