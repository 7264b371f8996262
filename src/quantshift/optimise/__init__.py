"""Searches on the simplex: likelihoods, quadratics, histograms."""

from quantshift.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
