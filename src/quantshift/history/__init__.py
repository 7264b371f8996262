"""What `quantify` found day by day: a folder to append to, series, control charts, alarms."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
