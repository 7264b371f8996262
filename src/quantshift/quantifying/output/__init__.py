"""Answers as text, page, chart, CSV and JSON."""
