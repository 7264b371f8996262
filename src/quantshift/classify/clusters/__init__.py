"""Clusters of items within classes, and their calibration."""
