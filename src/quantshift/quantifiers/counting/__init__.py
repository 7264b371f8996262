"""Quantifiers that count or average predictions and correct the counts."""
