"""For practitioners: prevalences in their own tables, with intervals, verdicts and advice."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
