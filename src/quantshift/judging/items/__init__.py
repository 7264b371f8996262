"""Judged items: tables and arrays of verdicts and labels, read and brought into one shape."""
