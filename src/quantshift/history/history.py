"""A history: what `quantify` or `judge` found call by call, as series with alarms."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from quantshift.base.storage.files import PAGE_ENDINGS, is_page, write_output
from quantshift.history.charts.alarms import Alarm, alarms_of
from quantshift.history.charts.archive import Archive
from quantshift.history.kept.record import HistoryEntry, Limits
from quantshift.history.output.rendering import short_table, short_text, undecided

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False, init=False)
class History(Archive):
    """The history in a folder; `open` also checks that it is one.

    Every method reads the folder as it is at that moment: other processes may append meanwhile.

    >>> from pathlib import Path
    >>> History(Path("history")).path.name
    'history'
    """

    def alarms(self, call: HistoryEntry | None = None, limits: Limits | None = None) -> list[Alarm]:
        """The alarms that a call (default: the last) has raised.

        They are of batches that no call had measured before, and of the newest of each series:
        an old batch that is measured again does not raise its alarm again.

        Warns of damaged files: without their calls, alarms may be missing.

        Examples
        --------
        >>> import tempfile
        >>> from quantshift import History, judge, watch
        >>> verdict = ["pass"] * 160 + ["fail"] * 40
        >>> label = ["pass"] * 35 + ["fail"] * 5 + [None] * 120 + ["fail"] * 10 + [None] * 30
        >>> answer = judge(verdict=verdict, label=label, labels="by-verdict")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = watch(answer, history=folder, at="2026-03-02")
        ...     len(History.open(folder).alarms())
        0
        """
        problems = self.problems()
        if problems:
            warnings.warn(undecided(problems), stacklevel=2)
        return alarms_of(self.calls(), call, limits)

    def to_html(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the page that `history page` writes: one file, for any browser.

        overwrite: also replace a file that is not such a page.

        Examples
        --------
        >>> import tempfile
        >>> from quantshift import History, judge, watch
        >>> verdict = ["pass"] * 160 + ["fail"] * 40
        >>> label = ["pass"] * 35 + ["fail"] * 5 + [None] * 120 + ["fail"] * 10 + [None] * 30
        >>> answer = judge(verdict=verdict, label=label, labels="by-verdict")
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     history = watch(answer, history=Path(folder) / "history", at="2026-03-02").history
        ...     history.to_html(Path(folder) / "history.html")
        ...     sorted(path.name for path in Path(folder).iterdir())
        ['history', 'history.html']
        """
        from quantshift.history.output.page import render_page

        content = render_page(self).encode()
        write_output(path, content, overwrite=overwrite, ours=is_page, endings=PAGE_ENDINGS)

    def plot(
        self, label: str | None = None, *, series: str | None = None, ax: "Axes | None" = None
    ) -> "Axes":
        """The share of a class over time, with intervals, limits and alarms.

        label: the class (default: the headline); series: its name, if there are several.
        """
        from quantshift.history.output.plotting import plot_series

        return plot_series(self, label, series, ax)

    def __repr__(self) -> str:
        """The newest batches in a few lines."""
        return short_text(self)

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        return short_table(self)
