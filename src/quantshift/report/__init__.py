"""Reports of results: tables, figures, and a page with all of them."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
