"""Seeds from named axes: the only place that makes a random generator.

A draw's generator depends on the user's seed and on the *names and values* of the axes that
identify the draw (experiment, repetition, prevalence, ...), never on how many draws came before
it. Hence results do not depend on worker count, order or machine.
"""

import hashlib

import numpy as np

Axis = str | int | float | bool


def seed_of(seed: int, **axes: Axis) -> int:
    """A 128-bit integer seed for the named axes."""
    text = "|".join([f"seed={seed}", *(f"{k}={_canonical(axes[k])}" for k in sorted(axes))])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def generator(seed: int, **axes: Axis) -> np.random.Generator:
    """A fresh generator for the named axes.

    >>> int(generator(0, shift="prior", repeat=3).integers(1000))
    662
    """
    return np.random.Generator(np.random.PCG64(seed_of(seed, **axes)))


def _canonical(value: Axis) -> str:
    # Ten significant digits, so that 0.1 + 0.2 and 0.3 are the same point of a grid, and so are
    # 1, 1.0 and np.float64(1.0).
    return f"{value:.10g}" if isinstance(value, int | float) else str(value)
