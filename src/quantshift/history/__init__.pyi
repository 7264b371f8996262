from .archive import Alarm as Alarm, History as History
from .control import (
    Chart as Chart,
    control_chart as control_chart,
    level_per_batch as level_per_batch,
)
from .judges import (
    Drift as Drift,
    JudgeOverTime as JudgeOverTime,
    PooledRate as PooledRate,
    RateSince as RateSince,
)
from .page import render_page as render_page
from .record import (
    AuditSummary as AuditSummary,
    BatchEntry as BatchEntry,
    HistoryEntry as HistoryEntry,
    JudgedEntry as JudgedEntry,
    JudgeEntry as JudgeEntry,
    Limits as Limits,
    ModelSummary as ModelSummary,
)
from .schemas import json_schema as json_schema, watched_json_schema as watched_json_schema
from .series import Control as Control, Point as Point, Series as Series
from .store import Problem as Problem
from .watching import Watched as Watched, watch as watch
