"""Series of batches, their limits, alarms, and judges over time."""
