"""What `quantify` found day by day: a folder to append to, series, control charts, alarms."""

from typing import TYPE_CHECKING

from quantshift.history.archive import Alarm, History
from quantshift.history.control import Chart, control_chart, level_per_look
from quantshift.history.record import AuditSummary, Call, Limits, Look, ModelSummary
from quantshift.history.series import Control, Point, Series
from quantshift.history.store import Problem
from quantshift.lazy import lazy_exports

if TYPE_CHECKING:
    from quantshift.history.page import render_page
else:
    __getattr__, __dir__ = lazy_exports(__name__, {"quantshift.history.page": ("render_page",)})

__all__ = [
    "Alarm",
    "AuditSummary",
    "Call",
    "Chart",
    "Control",
    "History",
    "Limits",
    "Look",
    "ModelSummary",
    "Point",
    "Problem",
    "Series",
    "control_chart",
    "level_per_look",
    "render_page",
]
