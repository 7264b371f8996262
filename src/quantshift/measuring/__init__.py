"""How good a classifier is on rows without labels: estimates of all the usual measures."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
