"""The true rate behind the verdicts of an LLM judge or any model, from a few human labels."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
