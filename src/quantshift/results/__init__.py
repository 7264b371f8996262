"""The store of results: one schema, atomic writes, resumption, verification."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
