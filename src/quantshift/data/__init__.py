"""Data sets: items with labels and features, from corpora, tables, arrays or posteriors."""

from typing import TYPE_CHECKING

from quantshift.lazy import lazy_exports

if TYPE_CHECKING:
    from quantshift.data.arrays import DataFile, read_matrix
    from quantshift.data.assembly import Wishes
    from quantshift.data.dataset import Dataset
    from quantshift.data.description import describe, find, find_embedded, render, render_list
    from quantshift.data.embedded import EMBEDDED, EmbeddedSet, embedded_set
    from quantshift.data.fetching import RECORDS, Fetched, PublicRecord, fetch_record
    from quantshift.data.folder import DataFolder
    from quantshift.data.importing import import_arrays, import_table
    from quantshift.data.lequa import import_lequa
    from quantshift.data.mixed_columns import MixedTable, mixed_posteriors, mixed_table
    from quantshift.data.preparation import TableColumns, TableView
    from quantshift.data.sources import (
        AbstractSource,
        CorpusSource,
        EmbeddedSource,
        FileSource,
        FolderSource,
        SyntheticSource,
        open_source,
        source_at,
    )
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "quantshift.data.arrays": (
                "DataFile",
                "read_matrix",
            ),
            "quantshift.data.assembly": ("Wishes",),
            "quantshift.data.dataset": ("Dataset",),
            "quantshift.data.description": (
                "describe",
                "find",
                "find_embedded",
                "render",
                "render_list",
            ),
            "quantshift.data.embedded": (
                "EMBEDDED",
                "EmbeddedSet",
                "embedded_set",
            ),
            "quantshift.data.fetching": (
                "RECORDS",
                "Fetched",
                "PublicRecord",
                "fetch_record",
            ),
            "quantshift.data.folder": ("DataFolder",),
            "quantshift.data.importing": (
                "import_arrays",
                "import_table",
            ),
            "quantshift.data.lequa": ("import_lequa",),
            "quantshift.data.mixed_columns": (
                "MixedTable",
                "mixed_posteriors",
                "mixed_table",
            ),
            "quantshift.data.preparation": (
                "TableColumns",
                "TableView",
            ),
            "quantshift.data.sources": (
                "AbstractSource",
                "CorpusSource",
                "EmbeddedSource",
                "FileSource",
                "FolderSource",
                "SyntheticSource",
                "open_source",
                "source_at",
            ),
        },
    )

__all__ = [
    "EMBEDDED",
    "RECORDS",
    "AbstractSource",
    "CorpusSource",
    "DataFile",
    "DataFolder",
    "Dataset",
    "EmbeddedSet",
    "EmbeddedSource",
    "Fetched",
    "FileSource",
    "FolderSource",
    "MixedTable",
    "PublicRecord",
    "SyntheticSource",
    "TableColumns",
    "TableView",
    "Wishes",
    "describe",
    "embedded_set",
    "fetch_record",
    "find",
    "find_embedded",
    "import_arrays",
    "import_lequa",
    "import_table",
    "mixed_posteriors",
    "mixed_table",
    "open_source",
    "read_matrix",
    "render",
    "render_list",
    "source_at",
]
