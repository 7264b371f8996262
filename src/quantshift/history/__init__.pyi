from .charts.alarms import Alarm as Alarm
from .history import History as History
from .charts.control import (
    Chart as Chart,
    control_chart as control_chart,
    level_per_batch as level_per_batch,
)
from .charts.judges import (
    Drift as Drift,
    JudgeOverTime as JudgeOverTime,
    RateSince as RateSince,
)
from .output.page import render_page as render_page
from .kept.record import (
    BatchEntry as BatchEntry,
    HistoryEntry as HistoryEntry,
    JudgedEntry as JudgedEntry,
    Limits as Limits,
    ModelSummary as ModelSummary,
)
from .schemas import json_schema as json_schema, watched_json_schema as watched_json_schema
from .charts.series import Control as Control, Point as Point, Series as Series
from .kept.store import Problem as Problem
from .watching.watched import Watched as Watched
from .watching.watching import watch as watch
