"""Quantifiers that match the distribution of a sample by a mixture of classes."""
