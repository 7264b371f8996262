"""Tests of whether an estimate can be trusted, from the sample's unlabelled items only."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
