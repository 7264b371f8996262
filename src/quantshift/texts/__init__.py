"""Features of texts: term counts, computed once, and a tf-idf view for each training set."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
