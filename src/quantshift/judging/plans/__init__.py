"""Which items to label, and the sheet for them."""
