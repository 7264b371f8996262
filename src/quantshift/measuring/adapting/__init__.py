"""A classifier after the shift: corrected probabilities, and decisions that follow from them."""
