"""Quantifiers that count or average predictions and correct the counts."""

FAMILY = "counting"
"""What readers call the methods of this package."""
