"""Commands that answer: estimates from tables, verdicts and sketches, and what to label."""
