"""Features of texts: term counts, computed once, and a tf-idf view for each training set."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
