"""Commands to begin with, and to see what is installed."""
