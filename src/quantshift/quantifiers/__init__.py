"""Quantification methods, which turn items into prevalences; one file per method or family."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
