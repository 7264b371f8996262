"""The laboratory: quantifiers under every kind of shift, and what is published about them."""
