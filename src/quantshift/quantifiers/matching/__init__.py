"""Quantifiers that match the distribution of a sample by a mixture of classes."""

FAMILY = "matching"
"""What readers call the methods of this package."""
