"""Whether the labels of a sample may be estimated together, and with which limits."""
