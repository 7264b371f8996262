"""Sheets of items to label: drawn from a table, filled in by people, read again."""
