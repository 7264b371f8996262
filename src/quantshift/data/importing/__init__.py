"""Data sets made from tables, arrays, images, mails, reviews and LeQua's files."""
