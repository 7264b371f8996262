"""A data set, in memory and on disk."""
