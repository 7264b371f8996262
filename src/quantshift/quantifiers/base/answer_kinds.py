"""The kinds of answers, and the reasons why an answer is of its kind; see `guarding`."""

CONFIDENCE_INTERVAL = "confidence interval"

RANGE = "range"
"""What remains possible where no assumption can be relied on; its coverage is not known."""

CANNOT = "cannot be estimated"
"""The limits then are a range that is too wide to act upon, or 0 and 1."""

EVIDENCE, AGREEMENT, DECLARED = "evidence", "agreement", "declared"
REFUTED, NO_EVIDENCE, NEITHER = "refuted", "no evidence", "neither"
