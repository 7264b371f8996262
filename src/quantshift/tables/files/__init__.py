"""Files that hold tables: where they are, how they are opened, read in chunks, quoted."""
