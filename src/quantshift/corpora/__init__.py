"""Raw files become a corpus on disk."""

from typing import TYPE_CHECKING

from quantshift.lazy import lazy_exports

if TYPE_CHECKING:
    from quantshift.corpora.corpus import Category, Corpus, CorpusWriter
    from quantshift.corpora.description import Description, describe, render, render_summary
    from quantshift.corpora.download import fetch_reviews
    from quantshift.corpora.reviews import (
        ImportProgress,
        ImportSummary,
        Source,
        SourceSummary,
        Tally,
        import_reviews,
        parse_source,
    )
    from quantshift.corpora.synthetic import SyntheticCorpus, SyntheticModel, generate, write_corpus
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "quantshift.corpora.corpus": (
                "Category",
                "Corpus",
                "CorpusWriter",
            ),
            "quantshift.corpora.description": (
                "Description",
                "describe",
                "render",
                "render_summary",
            ),
            "quantshift.corpora.download": ("fetch_reviews",),
            "quantshift.corpora.reviews": (
                "ImportProgress",
                "ImportSummary",
                "Source",
                "SourceSummary",
                "Tally",
                "import_reviews",
                "parse_source",
            ),
            "quantshift.corpora.synthetic": (
                "SyntheticCorpus",
                "SyntheticModel",
                "generate",
                "write_corpus",
            ),
        },
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
    "SyntheticCorpus",
    "SyntheticModel",
    "Tally",
    "describe",
    "fetch_reviews",
    "generate",
    "import_reviews",
    "parse_source",
    "render",
    "render_summary",
    "write_corpus",
]
