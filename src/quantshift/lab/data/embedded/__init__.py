"""Data sets that come with the package or are drawn."""
