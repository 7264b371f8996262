from .corpus import Category as Category, Corpus as Corpus, CorpusWriter as CorpusWriter
from .description import (
    Description as Description,
    describe as describe,
    render as render,
    render_summary as render_summary,
)
from .download import fetch_reviews as fetch_reviews
from .reviews import (
    ImportProgress as ImportProgress,
    ImportSummary as ImportSummary,
    Source as Source,
    SourceSummary as SourceSummary,
    Tally as Tally,
    import_reviews as import_reviews,
    parse_source as parse_source,
)
from .synthetic import (
    SyntheticCorpus as SyntheticCorpus,
    SyntheticModel as SyntheticModel,
    generate as generate,
    write_corpus as write_corpus,
)
