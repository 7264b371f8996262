from .counts import (
    CountMatrix as CountMatrix,
    open_counts as open_counts,
    tokenise as tokenise,
    tokenise_corpus as tokenise_corpus,
)
from .tfidf import TfidfView as TfidfView
from .view import MatrixView as MatrixView, View as View
