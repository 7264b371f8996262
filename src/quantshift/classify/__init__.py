"""Classifiers and calibration: posteriors, out of fold for training items, direct for new ones."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
