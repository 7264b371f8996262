"""What of scikit-learn's own checks cannot hold for a quantifier, and why."""

from collections.abc import Mapping
from types import MappingProxyType

from quantshift.quantifiers.base.estimator import AbstractQuantifier
from quantshift.quantifiers.base.tags import Reading

_SHARES = "predict returns the shares of the classes in the sample, not a value for each item"
_ONE_LINE = "what is no number is refused in one line that says so, a ValueError, not a TypeError"
_UNSEEN = "it reads no features, so that nothing in them can do harm"
_PAIRS = "its random features come in pairs, so that n_components, which the check sets, is not 1"
_ORDERED = (
    "it counts or orders scores, and two that differ in the last digits may change places: the "
    "classifier ends its search elsewhere with weights than with repeated items"
)
_FOLDED = "it divides the items that count, and the check gives folds of all, with weights of zero"
_CLUSTERED = "its clusters are drawn from the items, and those of repeated items are others"

_ALL: Mapping[str, str] = MappingProxyType(
    {
        "check_estimator_sparse_array": _SHARES,
        "check_estimator_sparse_matrix": _SHARES,
        "check_methods_sample_order_invariance": _SHARES,
        "check_methods_subset_invariance": _SHARES,
    }
)


def expected_failed_checks(quantifier: AbstractQuantifier) -> dict[str, str]:
    """The checks of `sklearn.utils.estimator_checks` that a quantifier fails, and the reasons.

    Parameters
    ----------
    quantifier : quantifier
        Not fitted.

    Returns
    -------
    dict
        Reasons by the names of checks, as `check_estimator` and `parametrize_with_checks` take them
        (`expected_failed_checks`).

    Examples
    --------
    >>> from quantshift import PACC
    >>> from quantshift.checks import expected_failed_checks
    >>> expected_failed_checks(PACC())["check_methods_subset_invariance"]
    'predict returns the shares of the classes in the sample, not a value for each item'
    """
    tags, options = quantifier.tags, quantifier.get_params(deep=False)
    sees = tags.sees
    reasons = dict(_ALL)
    if "posteriors" not in sees:
        reasons["check_dtype_object"] = _ONE_LINE if sees else _UNSEEN
    if not sees:
        reasons["check_estimators_nan_inf"] = _UNSEEN
    if "features" in sees and ("posteriors" in sees or "cv" in options):
        reasons |= dict.fromkeys(_OF_WEIGHTS, _CLUSTERED if "posteriors" in sees else _FOLDED)
    elif sees and (not tags.smooth or tags.reads is Reading.ONE_AGAINST_REST):
        reasons |= dict.fromkeys(_OF_WEIGHTS, _ORDERED)
    if {"kernel", "n_components"} <= options.keys():
        reasons |= dict.fromkeys(_WITH_COMPONENTS, _PAIRS)
    return reasons


_OF_WEIGHTS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
_WITH_COMPONENTS = (
    "check_dont_overwrite_parameters",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
)
