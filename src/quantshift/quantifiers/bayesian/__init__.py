"""Quantifiers that draw from a posterior distribution of shares."""
