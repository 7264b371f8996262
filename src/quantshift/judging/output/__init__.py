"""Judgements as text, page, chart and JSON."""
