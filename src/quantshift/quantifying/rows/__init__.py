"""A table with a line for every row: probabilities, the predicted class, and what is unusual."""
