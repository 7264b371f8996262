"""Several labels at once: an item has any number of them, and every label gets its own answer."""
