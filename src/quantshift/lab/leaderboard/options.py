"""The options of benchmarks, declared once for the functions and for `quantshift bench`."""

from collections.abc import Sequence
from dataclasses import dataclass

from quantshift.base.options import OPTIONS, option, split_names
from quantshift.lab.experiments.documents.experiment import MethodSpec
from quantshift.lab.leaderboard.entrants import added_method


def _added_methods(texts: Sequence[str]) -> tuple[MethodSpec, ...]:
    return tuple(added_method(text) for text in texts)


@dataclass(frozen=True)
class EntrantOptions:
    """Who takes part in a benchmark.

    methods: only these and the added ones; None: all that suit the data. added: the user's own
    methods, see `added_method`.
    """

    methods: Sequence[str] | None = option(
        None,
        "Run only these methods and those of --add (default: all that suit the data).",
        parse=lambda written: split_names(written) or None,
        metavar="A,B",
        shows_default=False,
        panel=OPTIONS,
    )
    added: Sequence[MethodSpec] = option(
        (),
        "Your own quantifier; may be given several times. The file is executed, so add only code "
        "that you trust.",
        reads="repeated",
        parse=_added_methods,
        name="add",
        metavar="FILE.py:CLASS",
        shows_default=False,
        panel=OPTIONS,
    )
