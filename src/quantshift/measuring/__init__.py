"""How good a classifier is on rows without labels: estimates of all the usual measures."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
