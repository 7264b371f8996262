"""For practitioners: prevalences in their own tables, with intervals, verdicts and advice."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
