"""Shares from counts."""
