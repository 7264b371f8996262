"""Columns that differ between the training rows and a sample, and which of them matter."""
