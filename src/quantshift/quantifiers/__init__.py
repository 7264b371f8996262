"""Items -> prevalences. A method or a family in one file; arrays in, arrays out."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
