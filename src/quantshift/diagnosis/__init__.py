"""Tests of whether an estimate can be trusted, from the sample's unlabelled items only."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
