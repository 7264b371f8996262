from .audit import (
    audit_interval as audit_interval,
    count_interval as count_interval,
    plan_audit as plan_audit,
)
from .sequence import (
    ConfidenceSequence as ConfidenceSequence,
    confidence_sequence as confidence_sequence,
)
