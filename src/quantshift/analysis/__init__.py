"""From raw outcomes to statistics: frame to frame, one idea per file."""

from quantshift.analysis.deviations import bias_by_class, with_errors
from quantshift.analysis.facets import part_of
from quantshift.analysis.methods import PAPER_METHODS, order_methods
from quantshift.analysis.paired import compare_with_best
from quantshift.analysis.pairwise import compare_all_pairs
from quantshift.analysis.ranks import RankComparison, mean_ranks, rank_datasets
from quantshift.analysis.stability import RankStability, rank_stability
from quantshift.analysis.summary import summarise
from quantshift.analysis.worst import WorstEstimates, worst_estimates

__all__ = [
    "PAPER_METHODS",
    "RankComparison",
    "RankStability",
    "WorstEstimates",
    "bias_by_class",
    "compare_all_pairs",
    "compare_with_best",
    "mean_ranks",
    "order_methods",
    "part_of",
    "rank_datasets",
    "rank_stability",
    "summarise",
    "with_errors",
    "worst_estimates",
]
