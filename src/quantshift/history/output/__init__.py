"""A history as text, chart and page."""
