"""What is kept of every call, and where."""
