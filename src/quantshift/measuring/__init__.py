"""A classifier after a shift: how good it is without labels, corrected, and what has changed."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
