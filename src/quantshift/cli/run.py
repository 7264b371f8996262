"""`quantshift run`: experiments, from a name or a TOML file to a store of raw outcomes."""

import shlex
import sys
from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quantshift.cli.cells import cell_progress
from quantshift.cli.machine import n_cores
from quantshift.cli.progress import item_progress
from quantshift.corpora.corpus import Corpus
from quantshift.data.sources import CorpusSource
from quantshift.experiments.document import parse_overrides
from quantshift.experiments.executors import executor
from quantshift.experiments.loading import library_names, load_experiment
from quantshift.experiments.planning import plan_table
from quantshift.experiments.runner import REDO_FAILED, Run, RunSummary, run_experiments
from quantshift.experiments.sources import sources_of
from quantshift.features.counts import FOLDER, tokenise_corpus
from quantshift.nouns import counted
from quantshift.results.store import ResultStore
from quantshift.tables import text_table


class Profile(StrEnum):
    """How large an experiment is."""

    PAPER = "paper"
    QUICK = "quick"


def run(
    experiments: Annotated[
        list[str],
        typer.Argument(
            metavar="EXPERIMENT...",
            help="Names (see `quantshift list experiments`) or TOML files.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="The folder of the results.")
    ],
    data: Annotated[
        list[Path] | None,
        typer.Option(
            "--data",
            "--corpus",
            metavar="DIR",
            help="A data set made with `quantshift data import`, or a corpus made with `quantshift "
            "corpus import`; may be given several times (default: synthetic reviews).",
            show_default=False,
        ),
    ] = None,
    profile: Annotated[
        Profile | None,
        typer.Option(
            help="paper: full sizes (default with --data); quick: the same grids, smaller sizes "
            "(default on the synthetic reviews).",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", help="Worker processes (default: all cores).", min=1),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on this dask.distributed scheduler instead."),
    ] = None,
    redo: Annotated[
        str | None,
        typer.Option(metavar="failed|all|METHOD", help="Compute this again (default: nothing)."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Override one value of the experiments, e.g. --set shift.train_size=1000.",
        ),
    ] = None,
    documents: Annotated[
        int, typer.Option(help="Size of the synthetic corpus, if no --data is given.", min=1)
    ] = 20_000,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan with its counts and stop.")
    ] = False,
) -> None:
    """Run experiments; what is already in the results is not computed again.

    A TOML file may name Python classes, which are imported, with --dry-run too: an experiment file
    is code, so run only those you trust.

    Killed or stopped with Ctrl-C, the same command resumes. Exit code 0: all is there; 1: some
    cells have failed (see `quantshift status`); 2: wrong input; 130: stopped by Ctrl-C.

    Examples:

        quantshift run prior local --out runs/first

        quantshift run prior covariate --data reviews --out runs/paper --jobs 2

        quantshift run prior --data churn --data adult --out runs/tables

        quantshift run my.toml --data reviews --out runs/mine --set shift.test_repeats=10
    """
    console = Console()
    overrides = parse_overrides(settings or [])
    loaded = tuple(
        load_experiment(
            e, profile=_profile(e, profile, on_own_data=bool(data)), overrides=overrides
        )
        for e in experiments
    )
    sources = {e.name: sources_of(e, data or (), n_documents=documents) for e in loaded}
    prepared = Run(loaded, sources, out)
    if dry_run:
        store = ResultStore.open(out) if (out / "store.json").exists() else None
        _say(console, text_table(plan_table(prepared.plan(store))))
        return
    for folder in {s.path for own in sources.values() for s in own if isinstance(s, CorpusSource)}:
        _tokenise_if_needed(folder, console)
    chosen = executor(jobs or n_cores(), cluster)
    try:
        with cell_progress(console) as progress:
            summary = run_experiments(prepared, chosen, redo=redo, progress=progress)
    except KeyboardInterrupt:
        command = resume_command(sys.argv[1:], redo)
        _say(console, f"\nstopped; nothing is lost. To go on: {command}")
        raise typer.Exit(130) from None
    _tell(summary, out, console)
    if summary.failures or summary.failed_before:
        raise typer.Exit(1)


def resume_command(arguments: Sequence[str], redo: str | None) -> str:
    """The command that goes on: without --redo all or METHOD, which would begin anew.

    >>> resume_command(["run", "prior", "--redo", "all", "--out", "runs/a b"], "all")
    "quantshift run prior --out 'runs/a b'"
    """
    kept = list(arguments)
    if redo not in (None, REDO_FAILED) and f"--redo={redo}" in kept:
        kept.remove(f"--redo={redo}")
    elif redo not in (None, REDO_FAILED) and "--redo" in kept:
        place = kept.index("--redo")
        del kept[place : place + 2]
    return shlex.join(["quantshift", *kept])


def _profile(experiment: str, wanted: Profile | None, *, on_own_data: bool) -> str:
    # A file of one's own is run as it is written; it need not have a quick profile.
    quick = not on_own_data and experiment in library_names()
    return (wanted or (Profile.QUICK if quick else Profile.PAPER)).value


def _tokenise_if_needed(path: Path, console: Console) -> None:
    corpus = Corpus.open(path)
    if (corpus.path / FOLDER).exists():
        return
    _say(console, f"counting the words of {path} (once)")
    with item_progress(console) as advance:
        tokenise_corpus(corpus, progress=partial(advance, "documents"))


def _tell(summary: RunSummary, out: Path, console: Console) -> None:
    for problem in summary.repaired:
        _say(console, f"damaged and computed again: {problem}")
    minutes, seconds = divmod(round(summary.seconds), 60)
    _say(console, f"{counted(summary.done, 'cell')} in {minutes}:{seconds:02d}; results in {out}")
    for line in summary.failures[:10]:
        _say(console, f"failed: {line}", style="red")
    if len(summary.failures) > 10:
        more = counted(len(summary.failures) - 10, "more failure")
        _say(console, f"... and {more}", style="red")
    if summary.failed_before:
        failed = counted(summary.failed_before, "result")
        _say(console, f"{failed} failed in an earlier run", style="red")
    if summary.failures or summary.failed_before:
        _say(console, "to try them again: the same command with --redo failed")


def _say(console: Console, text: str, style: str | None = None) -> None:
    # One line stays one line, whatever the width: commands are copied, outputs are searched.
    console.print(text, markup=False, highlight=False, soft_wrap=True, style=style)
