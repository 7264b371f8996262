"""Quantifiers for ordered classes."""
