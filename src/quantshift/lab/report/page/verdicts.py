"""The paper's findings as the page shows them, if the results can decide any of them."""

from collections.abc import Sequence
from typing import Any

from quantshift.base.nouns import counted
from quantshift.lab.paper import Claim, Verdict

_STATES = {
    True: ("holds", "✓", "holds"),
    False: ("fails", "✗", "does not hold"),
    None: ("untold", "?", "cannot be decided"),
}


def any_decided(verdicts: Sequence[Verdict]) -> bool:
    """Whether the results decide any claim, which takes the paper's experiments."""
    return any(claim.holds is not None for verdict in verdicts for claim in verdict.claims)


def findings(verdicts: Sequence[Verdict]) -> dict[str, Any] | None:
    """The findings for the page's template; None if the results decide none of them."""
    if not any_decided(verdicts):
        return None
    return {"tally": _tally(verdicts), "verdicts": [_verdict(verdict) for verdict in verdicts]}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    state, sign, word = _STATES[verdict.holds]
    held = sum(claim.holds is True for claim in verdict.claims)
    n = len(verdict.claims)
    return {
        "number": verdict.number,
        "title": verdict.title,
        "state": state,
        "sign": sign,
        "word": word[0].upper() + word[1:],
        "summary": f"{held} of {counted(n, 'criterion', 'criteria')} met",
        "claims": [_claim(claim) for claim in verdict.claims],
    }


def _claim(claim: Claim) -> dict[str, str]:
    state, sign, word = _STATES[claim.holds]
    text = claim.text[:1].upper() + claim.text[1:].replace("<=", "≤").replace(">=", "≥")
    return {"state": state, "sign": sign, "word": word, "text": text, "figures": claim.figures}


def _tally(verdicts: Sequence[Verdict]) -> str:
    states = [verdict.holds for verdict in verdicts]
    counts = [
        f"{states.count(state)} {word}"
        for state, word in (
            (True, "hold"),
            (False, "do not hold"),
            (None, "cannot be decided from these results"),
        )
        if state in states
    ]
    return (
        f"Of {len(states)}: {', '.join(counts)}. Errors are absolute errors here; the criteria "
        "and their limits are ours."
    )
