"""Calibration of posterior probabilities."""
