"""Quantification methods, which turn items into prevalences; one file per method or family."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
