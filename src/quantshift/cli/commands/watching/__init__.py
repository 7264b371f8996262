"""Commands for answers over time."""
