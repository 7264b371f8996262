"""What this machine has."""

import os

import psutil


def n_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load() -> float:
    """Processes that want a core, on average over the last minute."""
    return float(psutil.getloadavg()[0])
