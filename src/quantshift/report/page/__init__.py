"""One self-contained web page of results."""

from quantshift.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
