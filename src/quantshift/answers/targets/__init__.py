"""One answer about several targets, whichever command gives it."""
