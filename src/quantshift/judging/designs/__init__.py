"""How labelled items can have been chosen, one class each, and what follows for the estimate."""
