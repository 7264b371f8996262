"""Real reviews for the benchmarks of texts: where they are, or synthetic ones instead.

The reviews are read from the folder that QUANTSHIFT_REVIEWS names (`reviews/*.txt.gz`, a line per
review: stars, a tab, the text); they are never part of the repository.
"""

import os
from pathlib import Path

from quantshift.lab.data import DataFolder, ReviewFile, import_reviews, write_synthetic


def review_files() -> list[Path]:
    """The files of reviews; none if QUANTSHIFT_REVIEWS is not set."""
    folder = os.environ.get("QUANTSHIFT_REVIEWS")
    if folder is None:
        return []
    files = sorted((Path(folder) / "reviews").glob("*.txt.gz"))
    if not files:
        raise SystemExit(f"QUANTSHIFT_REVIEWS: no file {folder}/reviews/*.txt.gz")
    return files


def make_reviews(folder: Path, n_synthetic: int) -> DataFolder:
    """The reviews as a data set in the folder; without reviews, this many synthetic ones."""
    if files := review_files():
        named = [ReviewFile(file.name.partition(".")[0], file) for file in files]
        return import_reviews(named, folder)
    print(f"QUANTSHIFT_REVIEWS is not set: {n_synthetic:,} synthetic reviews")
    return write_synthetic(folder, n_documents=n_synthetic)
