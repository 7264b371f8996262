"""Options by which verbs say how the alarms of a history are raised."""

from typing import Annotated

import typer

HISTORY = "History"
"""Panel of the help."""

ALARM = "the moving average of a share is beyond the limits that the history gives it"
"""What `--fail-on alarm` means."""

Baseline = Annotated[
    int | None,
    typer.Option(
        "--baseline",
        metavar="N",
        help="Looks at the start of a series that say what is usual (default: as in the last "
        "call, at first 20).",
        show_default=False,
        rich_help_panel=HISTORY,
    ),
]
BaselineFrom = Annotated[
    str | None,
    typer.Option(
        "--baseline-from",
        metavar="DATE",
        help="The first day of the baseline, to begin again after a change.",
        show_default=False,
        rich_help_panel=HISTORY,
    ),
]
FalseAlarms = Annotated[
    float | None,
    typer.Option(
        "--false-alarms-per-year",
        metavar="NUMBER",
        help="How many looks a year may alarm by chance, in all series and classes together "
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
        help="How many batches of a series a year brings (default: by the dates of the batches).",
        show_default=False,
        rich_help_panel=HISTORY,
    ),
]
