"""From raw outcomes to statistics: frame to frame, one idea per file."""

from quantshift.analysis.errors import with_errors
from quantshift.analysis.findings import Claim, Verdict, verdicts
from quantshift.analysis.methods import PAPER_METHODS, order_methods
from quantshift.analysis.paired import compare_with_best
from quantshift.analysis.parts import part_of
from quantshift.analysis.published import against_published, published_tables
from quantshift.analysis.ranks import RankComparison, mean_ranks
from quantshift.analysis.summary import summarise
from quantshift.analysis.worst import WorstEstimates, worst_estimates

__all__ = [
    "PAPER_METHODS",
    "Claim",
    "RankComparison",
    "Verdict",
    "WorstEstimates",
    "against_published",
    "compare_with_best",
    "mean_ranks",
    "order_methods",
    "part_of",
    "published_tables",
    "summarise",
    "verdicts",
    "with_errors",
    "worst_estimates",
]
