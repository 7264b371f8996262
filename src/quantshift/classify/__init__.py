"""A training set -> posteriors, out of fold on the training set, direct on a pool."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
