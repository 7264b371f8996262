"""Sheets of items to label, and labelled sheets."""
