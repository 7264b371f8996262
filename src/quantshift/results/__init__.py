"""The store of results: one schema, atomic writes, resumption, verification."""

from quantshift.results.about import About
from quantshift.results.completeness import Planned, status
from quantshift.results.failures import Failure
from quantshift.results.log import RunLog
from quantshift.results.parts import Part, Problem
from quantshift.results.predictions import write_predictions
from quantshift.results.schema import CORE, DIAGNOSTICS, SCHEMA_VERSION, conform, schema_of
from quantshift.results.store import ResultStore
from quantshift.results.verification import foreign_files, repair, verify

__all__ = [
    "CORE",
    "DIAGNOSTICS",
    "SCHEMA_VERSION",
    "About",
    "Failure",
    "Part",
    "Planned",
    "Problem",
    "ResultStore",
    "RunLog",
    "conform",
    "foreign_files",
    "repair",
    "schema_of",
    "status",
    "verify",
    "write_predictions",
]
