"""How methods look in every figure, and the words of tables, figures and page."""
