"""What several benchmarks share: where data are, what they are compared with."""
