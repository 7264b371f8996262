"""What every other subpackage builds on: files, processes, compiled functions, seeds, words."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
