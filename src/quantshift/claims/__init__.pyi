from .alternatives import (
    Alternative as Alternative,
    shares_by_assumption as shares_by_assumption,
    spread as spread,
)
from .assumptions import (
    LEARNT as LEARNT,
    Assumption as Assumption,
    Explanation as Explanation,
)
from .deciding import (
    AGREEING as AGREEING,
    AGREEING_SCORES as AGREEING_SCORES,
    EVIDENCE_LEVEL as EVIDENCE_LEVEL,
    Facts as Facts,
    Grounds as Grounds,
    Labelled as Labelled,
    decide as decide,
)
from .findings import (
    About as About,
    Code as Code,
    Finding as Finding,
    Severity as Severity,
)
from .kinds import (
    WIDEST as WIDEST,
    Kind as Kind,
)
from .quantities import (
    Estimated as Estimated,
    Quantity as Quantity,
)
from .reasons import (
    NOTHING_KNOWN as NOTHING_KNOWN,
    Reason as Reason,
)

__all__ = [
    "AGREEING",
    "AGREEING_SCORES",
    "EVIDENCE_LEVEL",
    "LEARNT",
    "NOTHING_KNOWN",
    "WIDEST",
    "About",
    "Alternative",
    "Assumption",
    "Code",
    "Estimated",
    "Explanation",
    "Facts",
    "Finding",
    "Grounds",
    "Kind",
    "Labelled",
    "Quantity",
    "Reason",
    "Severity",
    "decide",
    "shares_by_assumption",
    "spread",
]
