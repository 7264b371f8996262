from .every_quantifier import check_quantifier as check_quantifier, yield_checks as yield_checks
