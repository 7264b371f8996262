"""Scheduled calls: kept, checked against events and conditions, with an exit code."""
