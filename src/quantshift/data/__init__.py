"""Data sets: items with labels and features, from corpora, tables, arrays or posteriors."""

from typing import TYPE_CHECKING

from quantshift.lazy import lazy_exports

if TYPE_CHECKING:
    from quantshift.data.arrays import DataFile, read_matrix
    from quantshift.data.assembly import Wishes
    from quantshift.data.dataset import Dataset
    from quantshift.data.description import describe, find, render, render_list
    from quantshift.data.folder import DataFolder
    from quantshift.data.importing import import_arrays, import_table
    from quantshift.data.preparation import TableColumns, TableView
    from quantshift.data.sources import (
        AbstractSource,
        CorpusSource,
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
                "render",
                "render_list",
            ),
            "quantshift.data.folder": ("DataFolder",),
            "quantshift.data.importing": (
                "import_arrays",
                "import_table",
            ),
            "quantshift.data.preparation": (
                "TableColumns",
                "TableView",
            ),
            "quantshift.data.sources": (
                "AbstractSource",
                "CorpusSource",
                "FileSource",
                "FolderSource",
                "SyntheticSource",
                "open_source",
                "source_at",
            ),
        },
    )

__all__ = [
    "AbstractSource",
    "CorpusSource",
    "DataFile",
    "DataFolder",
    "Dataset",
    "FileSource",
    "FolderSource",
    "SyntheticSource",
    "TableColumns",
    "TableView",
    "Wishes",
    "describe",
    "find",
    "import_arrays",
    "import_table",
    "open_source",
    "read_matrix",
    "render",
    "render_list",
    "source_at",
]
