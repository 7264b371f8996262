"""Room 1: raw files become a corpus on disk."""

from quantshift.corpora.corpus import Category, Corpus, CorpusWriter
from quantshift.corpora.describe import Description, describe, render, render_summary
from quantshift.corpora.download import fetch_reviews
from quantshift.corpora.importing import (
    ImportProgress,
    ImportSummary,
    Source,
    SourceSummary,
    Tally,
    import_reviews,
    parse_source,
)

__all__ = [
    "Category",
    "Corpus",
    "CorpusWriter",
    "Description",
    "ImportProgress",
    "ImportSummary",
    "Source",
    "SourceSummary",
    "Tally",
    "describe",
    "fetch_reviews",
    "import_reviews",
    "parse_source",
    "render",
    "render_summary",
]
