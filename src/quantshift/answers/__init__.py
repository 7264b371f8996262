"""What the answers of `quantify`, `judge` and a history have in common."""
