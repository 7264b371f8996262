"""Verdicts and labels of several kinds at once: one rate for each label."""
