"""How long the methods of a cell take, each by itself: what they share is nobody's time.

Times are those of the processor, so that other programs on the machine do not add to them. They
are no part of the results: they go into the log of the store.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import process_time
from typing import TypeAlias

Seconds: TypeAlias = dict[str, float]
"""By the name of a method."""


@dataclass(eq=False)
class Stopwatch:
    """Seconds of one cell.

    shared: learning the classifier, its posteriors, features: made once for all methods.
    fit: of each method, choosing its options and fitting it. estimate: of all test samples.
    """

    shared: float = 0.0
    fit: Seconds = field(default_factory=dict)
    estimate: Seconds = field(default_factory=dict)
    _depth: int = 0

    @contextmanager
    def sharing(self) -> Iterator[None]:
        """What is done inside serves all methods."""
        begun = process_time()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:  # the outermost counts what is inside it
                self.shared += process_time() - begun

    @contextmanager
    def timing(self, seconds: Seconds, method: str) -> Iterator[None]:
        """What is done inside, and is not shared, adds to the seconds of the method."""
        begun, shared = process_time(), self.shared
        yield
        own = process_time() - begun - (self.shared - shared)
        seconds[method] = seconds.get(method, 0.0) + own
