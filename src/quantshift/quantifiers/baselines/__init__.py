"""Quantifiers that learn nothing from a sample, to compare others with."""
