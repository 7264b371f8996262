"""A classifier after the shift: corrected probabilities, and decisions that follow from them."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
