"""A quantification made by hand, for tests of what is said of it."""

import dataclasses

from quantshift.answers.columns import LeftOutColumn, UsedColumn
from quantshift.answers.rows import Rows
from quantshift.answers.shares import Candidate, Share
from quantshift.claims import Alternative, Assumption, Explanation, Facts, Reason, decide
from quantshift.claims.findings import Code, Severity
from quantshift.measuring.findings import ColumnFindings
from quantshift.quantifying.output.quantification import Quantification
from quantshift.quantifying.result import Batch, ColumnChange, Shift, TrainingSide
from tests.claims.made import EVIDENT, GROUNDS


class Made(Code):
    """Findings that stand for any."""

    ODD = "made_odd", Severity.WARNING, "W"
    OF_TABLE = "made_of_table", Severity.WARNING, "T"
    DO = "made_do", Severity.ADVICE, "A."


AGE_MOVED = ColumnFindings.MEDIAN_MOVED.found(median=41.2, expected=35.0)
TOWN_MOVED = ColumnFindings.LEVEL_MOVED.found(level="Ulm", share=0.4, expected=0.12)
LABELS = ("neg", "pos")
ASSUMPTIONS = (
    Alternative(Assumption.PRIOR, "SubclassSLD", {"neg": 0.59, "pos": 0.41}, 0.1),
    Alternative(Assumption.COVARIATE, "SubclassSLD", {"neg": 0.64, "pos": 0.36}, 0.0),
    Alternative(Assumption.LOCAL, "SubclassSLD", {"neg": 0.56, "pos": 0.44}, 0.9),
)
SHARES = (Share("neg", 0.57, 0.5, 0.625), Share("pos", 0.43, 0.375, 0.5))
SHIFTED = Shift(rejected=True, kind=Explanation.COVARIATE, p_value=0.002)

BATCH = Batch(
    name="new.csv",
    n_items=500,
    shares=SHARES,
    unaudited=SHARES,
    alternatives=ASSUMPTIONS,
    grounds=EVIDENT,
    unaudited_grounds=EVIDENT,
    shift=SHIFTED,
    audit=None,
    change=(),
    scores={},
    verdict="V.",
    findings=(Made.ODD.found(), Made.DO.found()),
    changes=(
        ColumnChange("age", "number", 0.6, (AGE_MOVED,), 0.002),
        ColumnChange("town", "category", 0.3, (TOWN_MOVED,), 0.01),
    ),
    left_out=10,
)
FOUND = Quantification(
    classes=LABELS,
    level=0.95,
    simultaneous=False,
    method="SLD",
    reason="R",
    assumption="S",
    plain_assumption="S in words",
    training=TrainingSide(
        "t.csv",
        1000,
        {"neg": 0.5, "pos": 0.5},
        "logistic",
        0.9,
        {},
        Rows("t.csv", 1000, 1000, {}),
    ),
    batches=(BATCH,),
    findings=(Made.OF_TABLE.found(),),
    label="mood",
    headline="pos",
    names={"neg": "neg", "pos": "pos"},
    used=(
        UsedColumn("age", "number", "scaled"),
        UsedColumn("income", "number", "scaled"),
        UsedColumn("town", "category", "12 levels, 3 of them rare"),
    ),
    left_out_columns=(LeftOutColumn("customer", "nearly all values are distinct"),),
    sample_rows=(Rows("new.csv", 510, 500, {"no content": 10}),),
)

NOTHING_KNOWN = GROUNDS[Reason.UNINFORMATIVE]
UNKNOWN = Batch(
    name="new.csv",
    n_items=500,
    shares=tuple(Share(label, None, 0.0, 1.0) for label in LABELS),
    unaudited=tuple(Share(label, None, 0.0, 1.0) for label in LABELS),
    alternatives=(),
    grounds=NOTHING_KNOWN,
    unaudited_grounds=NOTHING_KNOWN,
    shift=None,
    audit=None,
    change=(),
    scores={},
    verdict="V.",
    findings=(Made.DO.found(),),
    no_estimate_reason="they tell the classes apart no better than chance",
)
"""A batch that nothing can be said of."""

CALM = dataclasses.replace(BATCH, name="calm", shift=Shift(False, Explanation.PRIOR, 0.4))
RANGED = dataclasses.replace(CALM, grounds=GROUNDS[Reason.NO_EVIDENCE])

BOTH = (
    Candidate(Assumption.PRIOR, 0.43, 0.375, 0.5),
    Candidate(Assumption.COVARIATE, 0.15, 0.1, 0.2),
)
POSITIVE = Share("pos", None, 0.1, 0.5, BOTH)
TWO_SHARES = (POSITIVE.complement("neg"), POSITIVE)
EITHER = decide(Facts(Assumption.PRIOR, length=0.225, allowed=0.4, n_items=500))
TWOFOLD = dataclasses.replace(
    CALM,
    name="twofold",
    grounds=EITHER,
    unaudited_grounds=EITHER,
    shares=TWO_SHARES,
    unaudited=TWO_SHARES,
)
"""A batch of which the items cannot tell whether 43% or 15% are positive."""


def found_with(*batches, **changes):
    named = tuple(
        dataclasses.replace(b, findings=tuple(f.in_batch(b.name) for f in b.findings))
        for b in batches
    )
    return dataclasses.replace(FOUND, batches=named, **changes)
