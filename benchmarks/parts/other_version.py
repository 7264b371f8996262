"""Intervals of another version of quantshift, computed by a process of its own.

    with OtherVersion(folder) as other:
        low, high = other.limits("SLD", posteriors, classes, posteriors_of_sample, n_bootstrap=200)

folder: a clone or a work tree of that version (0.2.0 or later). Its packages are those of this
environment, and its interval is the default one of that version.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import numpy as np


class OtherVersion:
    """A process that fits quantifiers and computes their intervals with another version."""

    def __init__(self, folder: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(folder).resolve() / "src")},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def limits(self, method: str, items: Any, y: Any, sample: Any, n_bootstrap: int) -> Any:
        """Lower and upper limits of all classes in a sample, (2, n_classes).

        items, y: to fit the method on, items and their classes. Items are posteriors for SLD, rows
        of features for SubclassSLD. Those of successive calls are fitted only once.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        arrays = [np.asarray(part).tolist() for part in (items, y, sample)]
        print(json.dumps([method, *arrays, n_bootstrap]), file=self._process.stdin, flush=True)
        return np.array(json.loads(self._process.stdout.readline()))


def serve() -> None:
    """Answer what is asked on the standard input until it ends."""
    from quantshift import SLD, SubclassSLD

    fitted: dict[str, tuple[Any, Any]] = {}
    for line in sys.stdin:
        method, items, y, sample, n_bootstrap = json.loads(line)
        if method not in fitted or fitted[method][0] != items:
            X = np.array(items)
            new = SLD().fit_posteriors(X, y) if method == "SLD" else SubclassSLD().fit(X, y)
            fitted[method] = items, new
        own, drawn = fitted[method][1], np.array(sample)
        found = (
            own.aggregate_interval(drawn, n_bootstrap=n_bootstrap)
            if method == "SLD"
            else own.predict_interval(drawn, n_bootstrap=n_bootstrap)
        )
        print(json.dumps([found.low.tolist(), found.high.tolist()]), flush=True)


if __name__ == "__main__":
    serve()
