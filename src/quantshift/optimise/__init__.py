"""Searches on the simplex: likelihoods, quadratics, histograms."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
