"""What designs are made of: evidence about labels, estimates of shares, quality of judges."""
