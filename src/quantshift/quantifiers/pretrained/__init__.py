"""A quantifier whose network was trained on simulated shifts, before it sees any data."""

FAMILY = "pre-trained"
