"""A corpus -> term counts, made once -> a tf-idf view for each training set."""

from quantshift.features.counts import CountMatrix, open_counts, tokenise, tokenise_corpus
from quantshift.features.tfidf import TfidfView
from quantshift.features.view import MatrixView, View

__all__ = [
    "CountMatrix",
    "MatrixView",
    "TfidfView",
    "View",
    "open_counts",
    "tokenise",
    "tokenise_corpus",
]
