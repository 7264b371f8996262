"""Counting rows into cells, in memory, in parts and in databases."""
