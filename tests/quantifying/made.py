"""A quantification made by hand, for tests of what is said of it."""

import dataclasses

from quantshift.answers.kinds import CANNOT
from quantshift.answers.rows import Rows
from quantshift.answers.shares import Share
from quantshift.quantifiers.base.guarding import NEITHER
from quantshift.quantifying.output.result import (
    Assumption,
    Batch,
    ColumnChange,
    LeftOutColumn,
    Quantification,
    Shift,
    TrainingSide,
    UsedColumn,
)

LABELS = ("neg", "pos")
ASSUMPTIONS = (
    Assumption("prior shift", "SubclassSLD", {"neg": 0.59, "pos": 0.41}, 0.1),
    Assumption("covariate shift", "SubclassSLD", {"neg": 0.64, "pos": 0.36}, 0.0),
    Assumption("local shift", "SubclassSLD", {"neg": 0.56, "pos": 0.44}, 0.9),
)
SHARES = (Share("neg", 0.57, 0.5, 0.625), Share("pos", 0.43, 0.375, 0.5))
SHIFTED = Shift(rejected=True, kind="covariate", p_value=0.002)

BATCH = Batch(
    name="new.csv",
    n_items=500,
    shares=SHARES,
    unaudited=SHARES,
    assumptions=ASSUMPTIONS,
    shift=SHIFTED,
    audit=None,
    change=(),
    scores={},
    verdict="V.",
    warnings=("W",),
    advice=("A.",),
    changes=(
        ColumnChange("age", "number", 0.6, "mean 41.2 where 35.0 was expected", 0.002),
        ColumnChange("town", "category", 0.3, "level 'Ulm' 40% where 12% was expected", 0.01),
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
    warnings=("T",),
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

UNKNOWN = Batch(
    name="new.csv",
    n_items=500,
    shares=tuple(Share(label, None, 0.0, 1.0) for label in LABELS),
    unaudited=tuple(Share(label, None, 0.0, 1.0) for label in LABELS),
    assumptions=(),
    shift=None,
    audit=None,
    change=(),
    scores={},
    verdict="V.",
    warnings=(),
    advice=("A.",),
    can_be_estimated=False,
    no_estimate_reason="they tell the classes apart no better than chance",
    kind=CANNOT,
    reason=NEITHER,
)
"""A batch that nothing can be said of."""

CALM = dataclasses.replace(BATCH, name="calm", shift=Shift(False, "prior", 0.4))


def found_with(*batches, **changes):
    return dataclasses.replace(FOUND, batches=batches, **changes)
