from .build import Report as Report, build_report as build_report
from .formats import TABLE_FORMATS as TABLE_FORMATS, save_tables as save_tables
from .options import FORMATS as FORMATS
from .page import (
    Contents as Contents,
    Provenance as Provenance,
    contents_of as contents_of,
    provenance_of as provenance_of,
    render_page as render_page,
)
from .tables.collection import result_tables as result_tables
from .tables.summary import summary_tables as summary_tables
from .tables.table import ReportTable as ReportTable
