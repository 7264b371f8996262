"""Networks that learn to quantify from samples drawn from the training items."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
