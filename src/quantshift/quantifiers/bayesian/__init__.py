"""Quantifiers that draw from a posterior distribution of shares."""

FAMILY = "Bayesian"
"""What readers call the methods of this package."""
