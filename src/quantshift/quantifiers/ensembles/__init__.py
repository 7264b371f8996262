"""Quantifiers that combine others."""
