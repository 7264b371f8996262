"""What is read: options, tables and arrays, joined into items."""
