"""Reports of results: tables, figures, and a page with all of them."""

from quantshift.report.build import FORMATS, Report, build_report
from quantshift.report.formats import TABLE_FORMATS, save_tables
from quantshift.report.page import Contents, Provenance, contents_of, provenance_of, render_page
from quantshift.report.summary_table import summary_tables
from quantshift.report.table import ReportTable
from quantshift.report.tables import result_tables

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
