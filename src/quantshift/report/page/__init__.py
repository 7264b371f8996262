"""One self-contained web page of results."""

from quantshift.report.page.builder import render_page
from quantshift.report.page.contents import Contents, contents_of
from quantshift.report.page.provenance import FailedCell, Provenance, provenance_of

__all__ = [
    "Contents",
    "FailedCell",
    "Provenance",
    "contents_of",
    "provenance_of",
    "render_page",
]
