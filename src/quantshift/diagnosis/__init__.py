"""Can this estimate be trusted? Tests of the sample, from its unlabelled items alone."""

from quantshift.diagnosis.refutation import Refutation, refutation_test, refutation_tests
from quantshift.diagnosis.which_shift import (
    ShiftTest,
    shift_test,
    shift_test_posteriors,
    shift_tests,
)

__all__ = [
    "Refutation",
    "ShiftTest",
    "refutation_test",
    "refutation_tests",
    "shift_test",
    "shift_test_posteriors",
    "shift_tests",
]
