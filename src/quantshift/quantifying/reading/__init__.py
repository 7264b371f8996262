"""Rows of samples, read into pools of items."""
