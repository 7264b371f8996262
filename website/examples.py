"""Runs the code blocks of the pages as a reader would, and checks the outputs shown.

The blocks of a page run in order, in one folder that is empty at first:

- ```` ```python ```` blocks of a page share one namespace. A block without a language right after
  one shows what it prints.
- ```` ```console ```` contains commands after `$ ` and, under each, its output. `quantshift` runs
  in this process; `python`, `cat`, `head` and `ls` run in another. A command that fails on purpose
  shows its `error:` line.
- A block with `title="NAME"` is a file of that name, which is written to the folder and not run.
- Other blocks (```` ```sh ````, ```` ```toml ````, ...) are only for the reader.

In an output, `...` matches anything on its line (such as a time).

    python -m website.examples PAGE...    fill in the outputs that the pages show (default: all)
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from threadpoolctl import threadpool_limits

from quantshift.answers.conditions import OPEN
from quantshift.cli.app import main as quantshift
from website.pages import name_of, pages

_FENCE = re.compile(r"^```(\w*)([^\n`]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"^ +```(python|console)\b", re.MULTILINE)
_OTHER_PROGRAMS = ("python", "cat", "head", "ls")
_WIDTH = "80"
# Progress, printed every few seconds without a terminal; a terminal erases it at the end.
_PROGRESS = re.compile(
    r"^(?:\d+/\d+ cells?, .*|working on .*|training on [\d,]+ rows?|.+, \d+:\d\d so far|"
    r".+: (?:[\d,]+ of [\d,]+|\d+%), .*\d+:\d\d left)\n",
    re.MULTILINE,
)


class ExampleError(Exception):
    """A block that fails, or shows another output; the message says where."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its language, its file name if it is a file, and where it is.

    follows  whether only blank lines separate this block from the previous one
    """

    language: str
    title: str | None
    body: str
    start: int
    end: int
    line: int
    follows: bool


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page."""
    if indented := _INDENTED.search(text):
        raise ExampleError(f"indented, so it would not be run: {indented[0].strip()}")
    fenced: list[Block] = []
    previous = 0
    for fence in _FENCE.finditer(text):
        language, more, body = fence.groups()
        title = re.search(r'title="([^"]+)"', more)
        start, end = fence.span(3)
        line = text.count("\n", 0, start)
        follows = bool(fenced) and not text[previous : fence.start()].strip()
        fenced.append(Block(language, title and title[1], body, start, end, line, follows))
        previous = fence.end()
    return fenced


@dataclass(frozen=True)
class Output:
    """The output that a block shows and the real one, and its position in the page's text."""

    start: int
    end: int
    line: int
    shown: str
    real: str

    @property
    def agrees(self) -> bool:
        """Whether the page shows the real output; `...` matches anything on a line."""
        return _matches(self.shown, self.real)


def run_page(page: Path, folder: Path) -> list[Output]:
    """Run the blocks of a page in the folder; raise `ExampleError` at the first that fails."""
    text = page.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__main__"}
    outputs: list[Output] = []
    printed: str | None = None
    with in_folder(folder):
        for block in blocks(text):
            where = f"{name_of(page)}:{block.line}"
            if printed is not None and block.follows and block.language in ("", "text"):
                outputs.append(Output(block.start, block.end, block.line, block.body, printed))
            printed = None
            if block.title:
                (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
                (folder / block.title).write_text(block.body, encoding="utf-8")
            elif block.language == "python":
                printed = _python(block.body, names, where)
            elif block.language == "console":
                outputs += _console(block, where)
    return outputs


def check_page(page: Path, folder: Path) -> None:
    """Raise `ExampleError` if a block fails or shows another output."""
    for output in run_page(page, folder):
        if not output.agrees:
            raise ExampleError(
                f"{name_of(page)}:{output.line}: the page shows\n{output.shown}\n"
                f"and the output is\n{output.real}\nRun `make docs-refresh`."
            )


def refill(page: Path, folder: Path) -> bool:
    """Fill in the outputs that the page shows; return whether the page has changed."""
    old = text = page.read_text(encoding="utf-8")
    for output in reversed(run_page(page, folder)):
        if not output.agrees:
            text = text[: output.start] + output.real + text[output.end :]
    page.write_text(text, encoding="utf-8")
    return text != old


def _python(code: str, names: dict[str, Any], where: str) -> str:
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, where, "exec"), names)
    except Exception as error:
        raise ExampleError(f"{where}: {type(error).__name__}: {error}") from error
    return printed.getvalue()


def _console(block: Block, where: str) -> Iterator[Output]:
    lines = block.body.splitlines(keepends=True)
    if not lines or not lines[0].startswith("$ "):
        raise ExampleError(f"{where}: a console block begins with `$ ` and a command")
    offset = block.start
    numbers = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    for number, following in zip(numbers, [*numbers[1:], len(lines)], strict=True):
        command = lines[number][2:].strip()
        shown = "".join(lines[number + 1 : following])
        start = offset + len("".join(lines[: number + 1]))
        code, output, errors = _command(command, where)
        answered = code in (0, OPEN)
        if not answered and "error:" not in shown:
            raise ExampleError(f"{where}: `{command}` ends with {code}: {output}{errors}")
        real = output if answered else output + errors
        yield Output(start, start + len(shown), block.line + number + 1, shown, real)


def _command(command: str, where: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    program, *arguments = shlex.split(command)
    if program == "quantshift":
        return _quantshift(arguments)
    if program not in _OTHER_PROGRAMS:
        raise ExampleError(f"{where}: {program} is not run here; show it in a block of `sh`")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        shlex.split(command),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )
    return done.returncode, done.stdout, done.stderr


def _quantshift(arguments: list[str]) -> tuple[int, str, str]:
    output, errors = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["quantshift", *arguments]),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
    ):
        try:
            quantshift()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return code, _PROGRESS.sub("", _trimmed(output.getvalue())), _trimmed(errors.getvalue())


def _trimmed(text: str) -> str:
    # Rich pads its tables with trailing blanks, which editors remove.
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _matches(shown: str, real: str) -> bool:
    pattern = r"[^\n]*".join(map(re.escape, shown.split("...")))
    return re.fullmatch(pattern, real) is not None


@contextlib.contextmanager
def in_folder(folder: Path) -> Iterator[None]:
    """Make the folder the current one and importable, with a terminal of a known width."""
    modules = set(sys.modules)
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "path", [str(folder), *sys.path]),
        mock.patch.dict(os.environ, {"COLUMNS": _WIDTH, "TERM": "dumb", "NO_COLOR": "1"}),
        threadpool_limits(1),
    ):
        yield
    # Modules of this page must not be visible to the next page.
    for name in set(sys.modules) - modules:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(file).is_relative_to(folder):
            del sys.modules[name]


def main(arguments: list[str]) -> int:
    """Fill in the outputs of the named pages (or of all)."""
    failed = 0
    for page in [Path(argument).resolve() for argument in arguments] or pages():
        with tempfile.TemporaryDirectory() as folder:
            try:
                if refill(page, Path(folder).resolve()):
                    print(f"{name_of(page)}: outputs filled in")
            except ExampleError as error:
                print(error)
                failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
