"""The store of results: one schema, atomic writes, resumption, verification."""

from quantshift.results.failures import Failure
from quantshift.results.log import RunLog
from quantshift.results.parts import Part, Problem
from quantshift.results.schema import SCHEMA, SCHEMA_VERSION, conform
from quantshift.results.status import status
from quantshift.results.store import ResultStore
from quantshift.results.verify import foreign_files, repair, verify

__all__ = [
    "SCHEMA",
    "SCHEMA_VERSION",
    "Failure",
    "Part",
    "Problem",
    "ResultStore",
    "RunLog",
    "conform",
    "foreign_files",
    "repair",
    "status",
    "verify",
]
