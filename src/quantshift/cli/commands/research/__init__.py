"""Commands of the laboratory: data sets, experiments, leaderboards and reports."""
