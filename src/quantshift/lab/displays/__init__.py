"""Displays of estimates under shift, as scikit-learn's: what is drawn, and `plot(ax=)`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
