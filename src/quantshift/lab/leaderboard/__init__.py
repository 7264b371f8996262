"""All methods under all shifts on many data sets: running a suite, and its leaderboard."""

from quantshift.lab.leaderboard.benchmark import Benchmark, Skipped, plan_benchmark
from quantshift.lab.leaderboard.build import Leaderboard, build_leaderboard
from quantshift.lab.leaderboard.duration import Duration, expected_duration
from quantshift.lab.leaderboard.entrants import added_method, unsuited
from quantshift.lab.leaderboard.scores import score_table

__all__ = [
    "Benchmark",
    "Duration",
    "Leaderboard",
    "Skipped",
    "added_method",
    "build_leaderboard",
    "expected_duration",
    "plan_benchmark",
    "score_table",
    "unsuited",
]
