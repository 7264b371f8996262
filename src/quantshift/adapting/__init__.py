"""A classifier after the shift: corrected probabilities, and decisions that follow from them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
