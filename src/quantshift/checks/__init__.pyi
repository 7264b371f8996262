from .every_multilabel import (
    check_multilabel_quantifier as check_multilabel_quantifier,
    yield_multilabel_checks as yield_multilabel_checks,
)
from .every_quantifier import check_quantifier as check_quantifier, yield_checks as yield_checks
from .scikit_learn import expected_failed_checks as expected_failed_checks
