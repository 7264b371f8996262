"""Reading of everything that is a table, in chunks, with every row counted."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
