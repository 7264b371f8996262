"""Quantifiers that maximise a likelihood."""
