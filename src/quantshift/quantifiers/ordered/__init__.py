"""Quantifiers for ordered classes."""

FAMILY = "ordered classes"
"""What readers call the methods of this package."""
