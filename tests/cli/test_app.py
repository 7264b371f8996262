"""The command as users meet it: a process, its output, its exit code."""

import contextlib
import errno
import inspect
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

from quantshift import __version__
from quantshift.cli.app import VERBS, app_with, main
from quantshift.cli.commands.first_steps import doctor
from quantshift.lab.shifts.catalogue import protocols
from quantshift.quantifiers.base import catalogue
from quantshift.quantifiers.base.catalogue import quantifiers, recommended

COMMAND = [sys.executable, "-c", "from quantshift.cli.app import main; main()"]


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    environment = {**os.environ, "COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, env=environment)


def test_version() -> None:
    done = process("--version")
    assert (done.returncode, done.stdout) == (0, f"quantshift {__version__}\n")


def test_python_runs_the_package_as_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "quantshift", "--version"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, f"quantshift {__version__}\n")


@pytest.mark.parametrize(
    ("line", "completion"),
    [
        ("quantshift pla", "plan"),
        ("quantshift --ver", "--version"),
        ("quantshift doctor --he", "--help"),
    ],
)
def test_shells_complete_verbs_and_their_options(line: str, completion: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "quantshift"],
        env={**os.environ, "_QUANTSHIFT_COMPLETE": "complete_fish", "_TYPER_COMPLETE_ARGS": line}
        | {"_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        capture_output=True,
        text=True,
    )
    assert completion in done.stdout.split()


@pytest.mark.slow
def test_bash_completes_the_options_of_a_verb() -> None:
    """It passes the words of the line in a variable of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "quantshift"],
        env={**os.environ, "_QUANTSHIFT_COMPLETE": "complete_bash"}
        | {"COMP_WORDS": "quantshift history export --a", "COMP_CWORD": "3"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["--as"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("judge", "missing argument 'TABLE'; see quantshift judge --help"),
        ("plan judge", "missing argument 'TABLE'; see quantshift plan judge --help"),
        ("judge a.csv b.csv", r".*extra argument.*\(b\.csv\); see quantshift judge --help"),
        (
            "quantify --sample a.csv b.csv",
            r".*extra argument.*\(b\.csv\): give one file with each --sample, or a pattern in "
            "quotes; see quantshift quantify --help",
        ),
        ("judge a.csv --level x", r"invalid value for '--level': .*; see quantshift judge --help"),
        ("example --output a", "no such option: --output .*--out.*see quantshift example --help"),
        ("exampel", r"no such command 'exampel'.*\bexample\b.* [Ss]ee quantshift --help"),
        ("--verbose", "no such option: --verbose.*see quantshift --help"),
        ("judge a.csv", r"name the column of the labels.* \(--label, [-a-z, ]*\)"),
    ],
)
def test_a_wrong_command_line_is_one_line(arguments: str, line: str) -> None:
    done = process(*arguments.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(f"error: {line}\n", done.stderr), done.stderr


def test_a_verb_alone_names_its_help() -> None:
    done = process("quantify")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: give a sample (--sample), or a sketch of one (--sketch); "
        "quantshift quantify --help has examples\n"
    )


def test_help_names_every_verb() -> None:
    done = process("--help")
    assert done.returncode == 0
    assert "how common is each class" in done.stdout
    for verb in ("data", "run", "status", "verify", "demo", "list", "doctor"):
        assert verb in done.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_the_list_of_verbs_says_what_their_help_says(verb: str) -> None:
    command = typer.main.get_command(app_with([verb])).commands[verb]
    assert inspect.cleandoc(command.help).split("\n\n")[0].replace("\n", " ") == (
        VERBS[verb].summary
    )


@pytest.mark.parametrize("arguments", [("--version",), ("--help",)])
def test_no_library_is_imported_for_a_line(arguments: tuple[str, ...]) -> None:
    told = "import atexit, sys; atexit.register(lambda: print(*sorted(sys.modules))); "
    command = [sys.executable, "-c", told + COMMAND[-1], *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    imported = done.stdout.splitlines()[-1].split()
    assert not {"numpy", "sklearn", "polars", "numba"} & set(imported)


def test_list_has_a_line_for_everything(quantshift) -> None:
    code, told, _ = quantshift("list")
    assert code == 0
    for name in (*catalogue.quantifiers(), *protocols(), "concept-forced"):
        assert any(line.split()[:1] == [name] for line in told.splitlines()), name
    assert "Saerens-Latinne-Decaestecker" in told
    assert "PriorShift" not in quantshift("list", "quantifiers")[1]


def test_the_quantifiers_to_begin_with_are_listed_first(quantshift):
    _, told, _ = quantshift("list", "quantifiers")
    first, _, others = told.partition("Other quantifiers")
    for name, cls in quantifiers().items():
        listed, rest = (first, others) if name in recommended() else (others, first)
        assert f"\n{name} " in listed
        assert f"\n{name} " not in rest
        assert cls.recommended == recommended().get(name, cls.recommended)
    assert len(recommended()) == 12


def test_doctor_tells_versions_and_missing_parts(quantshift) -> None:
    code, told, _ = quantshift("doctor")
    assert code == 0
    for part in ("quantshift", "python", "cores", "memory", "numpy", "chromium"):
        assert any(line.startswith(part) for line in told.splitlines()), part


def test_doctor_knows_all_that_is_needed_and_all_extras() -> None:
    with (Path(__file__).parents[2] / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]

    def names(requirements: list[str]) -> set[str]:
        return {re.split(r"[<>=\[]", text)[0] for text in requirements}

    assert names(project["dependencies"]) == set(doctor.REQUIRED)
    extras = project["optional-dependencies"]
    for extra in extras.keys() - {"all", "test"}:
        assert names(extras[extra]) - {"quantshift"} <= doctor.OPTIONAL_PACKAGES.keys(), extra


def test_doctor_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "REQUIRED", ("numpy", "no-such-package"))
    assert ("no-such-package", "missing", "needed: pip install no-such-package") in (
        doctor.findings()
    )


def test_a_user_s_error_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    done = process("data", "describe", str(tmp_path / "nowhere"))
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("place", ["before", pytest.param("behind", marks=pytest.mark.slow)])
def test_debug_shows_the_traceback(tmp_path: Path, place: str) -> None:
    verb = ["data", "describe", str(tmp_path / "nowhere")]
    done = process(*(["--debug", *verb] if place == "before" else [*verb, "--debug"]))
    assert done.returncode != 0
    assert "Traceback" in done.stderr


def test_an_unknown_verb_is_exit_code_2() -> None:
    done = process("lst")
    assert done.returncode == 2
    assert "list" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("quantify", "--sample", "new.csv"), "(--train, --model, --posteriors)"),
        (("quantify", "--sample", "new.csv", "--train", "old.csv"), "(--label)"),
        (("data", "synthetic", "--out", "old.csv"), "(--out)"),
    ],
)
def test_an_error_names_the_options_of_the_verb_that_cure_it(
    arguments, options, quantshift, tmp_path, monkeypatch
) -> None:
    for name in ("old.csv", "new.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    monkeypatch.chdir(tmp_path)
    code, _, error = quantshift(*arguments)
    assert code == 2
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert error.rstrip().endswith(options)
    assert error.count("--") == options.count("--")


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("research.status.ResultStore.open", ("status", "out")),
        ("research.data.import_columns", ("data", "import", "a.csv", "--label", "y", "--out", "d")),
    ],
)
def test_ctrl_c_is_one_line_and_exit_code_130(function, arguments, monkeypatch, capsys) -> None:
    code = called(function, KeyboardInterrupt(), arguments, monkeypatch)
    assert (code, *capsys.readouterr()) == (130, "", "stopped\n")


def test_ctrl_c_that_a_library_turns_into_its_own_error_is_one_line(monkeypatch, capsys) -> None:
    """numpy says that a buffer has no valid format if it is interrupted while it reads one."""

    def interrupted(*args: object) -> None:
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise ValueError("'T{d:val:}' is not a valid PEP 3118 buffer format string")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr("quantshift.cli.commands.research.status.ResultStore.open", interrupted)
    monkeypatch.setattr(sys, "argv", ["quantshift", "status", "out"])
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        signal.signal(signal.SIGINT, before)
    assert (ended.value.code, *capsys.readouterr()) == (130, "", "stopped\n")


def test_memory_that_is_not_enough_is_one_line(monkeypatch, capsys) -> None:
    error = MemoryError("Unable to allocate 7.28 TiB")
    code = called("research.status.ResultStore.open", error, ("status", "out"), monkeypatch)
    said, wrong = capsys.readouterr()
    assert (code, said, wrong.count("\n")) == (2, "", 1)
    assert wrong.startswith("error: not enough memory on this machine")
    assert "7.28 TiB" in wrong


class PanicException(BaseException):
    """What libraries written in Rust raise; it is not an Exception."""


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (SystemExit(0), 2, "code that was loaded for this command called sys.exit(0)"),
        (EOFError("No data left in file"), 2, "a file ends before its content does"),
        (OSError(errno.ENAMETOOLONG, "File name too long", "a" * 5000), 2, "File name too long"),
        (OSError(errno.EIO, "Input/output error"), 2, "the output cannot be written"),
        (PanicException("index out of bounds"), 1, "unexpected PanicException: index out of"),
        (OverflowError("date value out of range"), 1, "unexpected OverflowError: date value"),
        (RecursionError(), 1, "unexpected RecursionError; "),
    ],
)
def test_every_error_is_one_line(error, code, said, monkeypatch, capsys) -> None:
    """They were tracebacks, "Aborted.", or nothing at all with the exit code of the loaded code."""
    ended = called("research.status.ResultStore.open", error, ("status", "out"), monkeypatch)
    out, wrong = capsys.readouterr()
    assert (ended, out, wrong.count("\n")) == (code, "", 1)
    assert said in wrong
    assert len(wrong) < 600


def test_debug_shows_the_traceback_of_an_unexpected_error(monkeypatch, capsys) -> None:
    arguments = ("--debug", "status", "x")
    assert called("research.status.ResultStore.open", PanicException(), arguments, monkeypatch) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("redirection", "code", "said"),
    [
        (">/dev/full", 2, "error: the output cannot be written (No space left on device)"),
        (">&-", 2, "error: standard output is closed; send it to a file"),
        pytest.param("2>&- >/dev/full", 2, "", marks=pytest.mark.slow),
        ("| head -1 >/dev/null; exit ${PIPESTATUS[0]}", 1, ""),
    ],
)
def test_outputs_that_cannot_be_written_are_one_line(redirection, code, said) -> None:
    """A full device was a traceback, and a closed output was exit code 0."""
    command = shlex.join([sys.executable, "-m", "quantshift", "list"])
    done = subprocess.run(
        ["bash", "-c", f"{command} {redirection}"], capture_output=True, text=True
    )
    assert done.returncode == code
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == bool(said)


@pytest.mark.slow
def test_a_closed_input_is_one_line() -> None:
    """It was an AttributeError."""
    words = [
        sys.executable,
        "-m",
        "quantshift",
        "sketch",
        "-",
        "--score",
        "p",
        "--out",
        "s.parquet",
    ]
    done = subprocess.run(
        ["bash", "-c", f"{shlex.join(words)} <&-"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: standard input is closed; give a file")


def called(function, error: BaseException, arguments, monkeypatch) -> object:
    """The exit code of the command if the function raises the error."""

    def fail(*values: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(f"quantshift.cli.commands.{function}", fail)
    monkeypatch.setattr(sys, "argv", ["quantshift", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_the_library_names_no_options() -> None:
    """Errors of the library are for Python too; whole commands in backticks may be quoted.

    One module writes commands to run next, which is what options are for; where options are
    declared, their help may name others. What nobody has said about labels is asked for with the
    option of each answer.
    """
    source = Path(__file__).parents[2] / "src" / "quantshift"
    may = {
        source / "quantifying" / "output" / "commands.py",
        source / "judging" / "answering" / "judged_batches.py",
        source / "judging" / "findings.py",
    }
    option = re.compile(r"(?<![\w-])--[a-z]+(?![a-z]|-->)")
    for path in source.rglob("*.py"):
        if path in may or path.name == "options.py":
            continue
        if "cli" not in path.parts:
            text = re.sub(r"`(quantshift|dask) [^`]*`", "", path.read_text())
            assert not option.search(text), path
