"""What every quantifier is made of, and the list of all of them."""
