"""Networks that learn to quantify from samples drawn from the training items."""
