"""Tests of whether an estimate can be trusted, from the sample's unlabelled items only."""

from quantshift.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
