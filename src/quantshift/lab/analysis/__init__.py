"""From raw outcomes to statistics: frame to frame, one idea per file."""

from quantshift.lab.analysis.deviations import bias_by_class, with_errors
from quantshift.lab.analysis.facets import part_of
from quantshift.lab.analysis.methods import PAPER_METHODS, order_methods
from quantshift.lab.analysis.paired import compare_with_best
from quantshift.lab.analysis.pairwise import compare_all_pairs
from quantshift.lab.analysis.ranks import RankComparison, mean_ranks, rank_datasets
from quantshift.lab.analysis.stability import RankStability, rank_stability
from quantshift.lab.analysis.summary import summarise

__all__ = [
    "PAPER_METHODS",
    "RankComparison",
    "RankStability",
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
]
