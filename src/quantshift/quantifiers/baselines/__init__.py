"""Quantifiers that learn nothing from a sample, to compare others with."""

FAMILY = "baseline"
"""What readers call the methods of this package."""

BASELINE = "MLPE"
"""The name of the method that others are compared with. It is right by design where the prevalence
stays the same, so it is never ranked as best."""
