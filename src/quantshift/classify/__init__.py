"""Classifiers and calibration: posteriors, out of fold for training items, direct for new ones."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
