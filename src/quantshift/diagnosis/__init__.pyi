from .refutation import (
    Refutation as Refutation,
    refutation_test as refutation_test,
    refutation_tests as refutation_tests,
)
from .which_shift import (
    ShiftTest as ShiftTest,
    shift_test as shift_test,
    shift_tests as shift_tests,
)
