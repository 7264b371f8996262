"""Making of data sets from tables, arrays, reviews and LeQua's files."""
