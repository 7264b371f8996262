"""The call itself: from a table to an answer."""
