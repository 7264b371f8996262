"""What the columns of a table hold: numbers, categories, dates, ids, texts."""
