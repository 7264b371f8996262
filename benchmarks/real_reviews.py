"""Real reviews for the benchmarks of texts: where they are, or synthetic ones instead.

The reviews are read from the folder that QUANTSHIFT_REVIEWS names (`reviews/*.txt.gz`, a line per
review: stars, a tab, the text); they are never part of the repository.
"""

import os
from pathlib import Path

from quantshift.data.corpus import Corpus, CorpusWriter
from quantshift.data.embedded.reviews import CATEGORY_NAMES, generate
from quantshift.data.importing.reviews import Source, import_reviews


def review_files() -> list[Path]:
    """The files of reviews; none if QUANTSHIFT_REVIEWS is not set."""
    folder = os.environ.get("QUANTSHIFT_REVIEWS")
    if folder is None:
        return []
    files = sorted((Path(folder) / "reviews").glob("*.txt.gz"))
    if not files:
        raise SystemExit(f"QUANTSHIFT_REVIEWS: no file {folder}/reviews/*.txt.gz")
    return files


def make_corpus(folder: Path, n_synthetic: int) -> Corpus:
    """The reviews as a corpus in the folder; without reviews, this many synthetic ones."""
    if files := review_files():
        sources = [Source(file.name.partition(".")[0], file) for file in files]
        return import_reviews(sources, folder).corpus
    print(f"QUANTSHIFT_REVIEWS is not set: {n_synthetic:,} synthetic reviews")
    made = generate(n_synthetic)
    with CorpusWriter(folder, categories=CATEGORY_NAMES) as writer:
        writer.write(made.categories, made.stars, made.texts())
        return writer.commit(origin={})
