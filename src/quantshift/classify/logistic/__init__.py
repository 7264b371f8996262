"""Logistic regression for many small problems at once."""
