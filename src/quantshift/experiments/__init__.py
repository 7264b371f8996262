"""What to run: experiments as data, their cells, and what is left to do of them."""
