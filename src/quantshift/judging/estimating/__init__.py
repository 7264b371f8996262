"""True rates from verdicts and labels."""
