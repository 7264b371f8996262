"""What the answers of `quantify`, `judge` and a history have in common."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
