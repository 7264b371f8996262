"""Shares of samples, with the evidence for them."""
