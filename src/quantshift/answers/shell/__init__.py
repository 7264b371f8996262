"""The frame, the look and the chart library of every self-contained page."""
