"""Estimates from labels that people give: audits, strata, labels of other items."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
