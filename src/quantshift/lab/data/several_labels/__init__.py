"""Data with several labels: generated, imported, in files of other packages, and on disk."""
