"""What `quantify` found day by day: a folder to append to, series, control charts, alarms."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
