"""Cells of a sketch: which scores fall together."""
