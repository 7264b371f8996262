from .job import judge as judge
from .labels.label_judgement import (
    LabelJudgement as LabelJudgement,
    label_json_schema as label_json_schema,
)
from .plans.sheet import (
    LabelSheet as LabelSheet,
    plan_labels as plan_labels,
)
from .result import Judgement as Judgement, json_schema as json_schema
