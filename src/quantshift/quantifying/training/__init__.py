"""Models: learning from a labelled table, saving, what to doubt about it."""
