"""The checks that every quantifier passes, for the library's and for users' own."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
