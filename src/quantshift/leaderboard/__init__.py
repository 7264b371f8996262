"""All methods under all shifts on many data sets: running a suite, and its leaderboard."""

from quantshift.leaderboard.benchmark import Benchmark, Skipped, plan_benchmark
from quantshift.leaderboard.build import Leaderboard, build_leaderboard
from quantshift.leaderboard.bundle import AddedResults, add_bundle, open_bundle, write_bundle
from quantshift.leaderboard.duration import Duration, expected_duration
from quantshift.leaderboard.entrants import added_method, unsuited
from quantshift.leaderboard.scores import score_table

__all__ = [
    "AddedResults",
    "Benchmark",
    "Duration",
    "Leaderboard",
    "Skipped",
    "add_bundle",
    "added_method",
    "build_leaderboard",
    "expected_duration",
    "open_bundle",
    "plan_benchmark",
    "score_table",
    "unsuited",
    "write_bundle",
]
