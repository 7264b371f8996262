"""The checks that every quantifier passes, for the library's and for users' own."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
