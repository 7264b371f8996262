from .archive import Alarm as Alarm, History as History
from .control import (
    Chart as Chart,
    control_chart as control_chart,
    level_per_look as level_per_look,
)
from .page import render_page as render_page
from .record import (
    AuditSummary as AuditSummary,
    Call as Call,
    Limits as Limits,
    Look as Look,
    ModelSummary as ModelSummary,
)
from .series import Control as Control, Point as Point, Series as Series
from .store import Problem as Problem
from .watching import Watched as Watched, watch as watch
