"""Quantifiers that maximise a likelihood."""

FAMILY = "likelihood"
"""What readers call the methods of this package."""
