"""Answers as data frames and charts, and in a few lines."""
