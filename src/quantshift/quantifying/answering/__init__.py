"""The calls themselves: from tables to an answer, or to a sheet of items to label."""
