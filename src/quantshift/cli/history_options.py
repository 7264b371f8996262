"""Options that control the alarms of a history."""

from typing import Annotated

import typer

HISTORY = "History"
"""Title of the help panel."""

ALARM = "the moving average of a share is beyond the limits set by the history"
"""What `--fail-on alarm` means."""

Baseline = Annotated[
    int | None,
    typer.Option(
        "--baseline",
        metavar="N",
        help="Number of looks at the start of a series that define what is usual (default: as in "
        "the last call, at first 20).",
        show_default=False,
        rich_help_panel=HISTORY,
    ),
]
BaselineFrom = Annotated[
    str | None,
    typer.Option(
        "--baseline-from",
        metavar="DATE",
        help="First day of the baseline, to start again after a change.",
        show_default=False,
        rich_help_panel=HISTORY,
    ),
]
FalseAlarms = Annotated[
    float | None,
    typer.Option(
        "--false-alarms-per-year",
        metavar="NUMBER",
        help="Number of false alarms a year to allow, in all series and classes together "
        "(default: as in the last call, at first 1).",
        show_default=False,
        rich_help_panel=HISTORY,
    ),
]
LooksPerYear = Annotated[
    float | None,
    typer.Option(
        "--looks-per-year",
        metavar="NUMBER",
        help="Number of batches of a series in a year (default: from the dates of the batches).",
        show_default=False,
        rich_help_panel=HISTORY,
    ),
]
