"""The measures of performance, one family per file, listed in `registry`."""
