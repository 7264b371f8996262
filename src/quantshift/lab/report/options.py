"""The options of reports, declared once for `build_report` and for `quantshift report`."""

from collections.abc import Sequence
from dataclasses import dataclass

from quantshift.base.options import OPTIONS, option, split_names
from quantshift.errors import unknown_name
from quantshift.lab.report.formats import TABLE_FORMATS
from quantshift.metrics import MEASURES

FIGURE_FORMATS = ("pdf", "svg", "png")

FORMATS = ("html", *FIGURE_FORMATS, *(name for name in TABLE_FORMATS if name != "html"))
"""All formats: html for the page and tables; pdf, svg and png for figures; others for tables."""

PAPER = "paper"
"""What results can be compared with."""


def _is_paper(written: str) -> bool:
    if written != PAPER:
        raise unknown_name("reference", written, [PAPER])
    return True


@dataclass(frozen=True)
class ReportOptions:
    """What a report shows, and in which formats.

    formats: any of `FORMATS`; summary.md is always written. measure: the error measure. methods:
    only these, in this order; None: all that have results. against_paper: add the comparison with
    the published numbers. overwrite: replace files that have the names of report files but do not
    belong to a report.
    """

    formats: Sequence[str] = option(
        FORMATS,
        "Write only these; may be given several times (default: all). html: the page and tables; "
        "pdf, svg, png: figures; tex, md, csv: tables.",
        reads="repeated",
        metavar="|".join(FORMATS),
        short="f",
        shows_default=False,
        panel=OPTIONS,
    )
    measure: str = option(
        "ae",
        f"The error measure: {', '.join(MEASURES)}.",
        metavar="NAME",
        short="m",
        panel=OPTIONS,
    )
    methods: Sequence[str] | None = option(
        None,
        "Show only these methods, in this order (default: all).",
        parse=lambda written: split_names(written) or None,
        metavar="A,B",
        shows_default=False,
        panel=OPTIONS,
    )
    against_paper: bool = option(
        False,
        "Compare with the published numbers.",
        parse=_is_paper,
        name="against",
        metavar=PAPER,
        shows_default=False,
        panel=OPTIONS,
    )
    overwrite: bool = option(False, "Replace files that are not part of a report.", panel=OPTIONS)
