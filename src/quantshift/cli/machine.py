"""The cores and the load of this machine."""

import os

import psutil


def n_cores() -> int:
    """The number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load_average() -> float:
    """The load average of the last minute."""
    return float(psutil.getloadavg()[0])
