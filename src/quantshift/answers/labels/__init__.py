"""What the answers about several labels have in common."""
