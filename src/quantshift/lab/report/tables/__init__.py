"""Tables of a report, and their formats."""
