"""Can this estimate be trusted? Tests of the sample, from its unlabelled items alone."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
