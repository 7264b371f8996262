"""Reports of results: tables, figures, and a page with all of them."""

from quantshift.report.build import FORMATS, Report, build_report
from quantshift.report.formats import TABLE_FORMATS, save_tables
from quantshift.report.page import Contents, Provenance, contents_of, provenance_of, render_page
from quantshift.report.tables.collection import result_tables
from quantshift.report.tables.summary import summary_tables
from quantshift.report.tables.table import ReportTable

__all__ = [
    "FORMATS",
    "TABLE_FORMATS",
    "Contents",
    "Provenance",
    "Report",
    "ReportTable",
    "build_report",
    "contents_of",
    "provenance_of",
    "render_page",
    "result_tables",
    "save_tables",
    "summary_tables",
]
