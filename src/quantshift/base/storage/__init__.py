"""What is written to disk and read again: whole files and folders, with checks."""
