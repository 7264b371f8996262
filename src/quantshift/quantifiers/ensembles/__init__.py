"""Quantifiers that combine others."""

FAMILY = "ensemble"
"""What readers call the methods of this package."""
