"""How long each method of a cell takes, without the work that they share.

Times are processor times, so that other programs on the machine do not add to them. They are not
part of the results: they go into the log of the store.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import process_time
from typing import TypeAlias

Seconds: TypeAlias = dict[str, float]
"""Seconds by the name of the method."""


@dataclass(eq=False)
class Stopwatch:
    """Seconds of one cell.

    shared: fitting the classifier, its posteriors, features: done once for all methods.
    fit: choosing the options of each method and fitting it. estimate: all test samples.
    """

    shared: float = 0.0
    fit: Seconds = field(default_factory=dict)
    estimate: Seconds = field(default_factory=dict)
    _depth: int = 0

    @contextmanager
    def sharing(self) -> Iterator[None]:
        """Time spent inside is shared by all methods."""
        started = process_time()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:  # the outermost includes the nested ones
                self.shared += process_time() - started

    @contextmanager
    def timing(self, seconds: Seconds, method: str) -> Iterator[None]:
        """Time spent inside that is not shared is added to the seconds of the method."""
        started, shared_before = process_time(), self.shared
        yield
        unshared = process_time() - started - (self.shared - shared_before)
        seconds[method] = seconds.get(method, 0.0) + unshared
