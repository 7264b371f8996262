"""Data sets made from tables, arrays, reviews and LeQua's files."""
