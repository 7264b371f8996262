"""The true rate behind the verdicts of an LLM judge or any model, from a few human labels."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
