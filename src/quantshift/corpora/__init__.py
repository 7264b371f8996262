"""Corpora of reviews: imported from raw files, downloaded or synthetic, and stored on disk."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
