"""How the command ends if something goes wrong: one line on stderr, and an exit code."""

import contextlib
import errno
import os
import sys
import traceback
from typing import Any, NamedTuple, NoReturn

from quantshift.base.extras import missing_package
from quantshift.credentials import without_credentials
from quantshift.errors import DataError, UserError

BAD_INPUT, OWN_FAILURE = 2, 1
"""Exit codes: for errors that the user can fix, and for errors of quantshift itself."""

LONGEST_PART = 300
"""The most characters of a path, or of the message of an unexpected error, that are shown."""


EXTRA = "got unexpected extra argument"
"""How the library for options begins the message about words that belong to no option."""


class Ending(NamedTuple):
    """What is printed on stderr, and the exit code."""

    message: str
    code: int


def check_streams() -> None:
    """Refuse a closed standard output, whose number the next file to be opened would get."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open until the process ends
    if sys.stdout is None:
        raise UserError("standard output is closed; send it to a file, a pipe or /dev/null")


def bad_input(error: SystemExit | EOFError) -> BaseException:
    """What to raise for errors of a verb that would end the process without giving the reason."""
    if isinstance(error, EOFError):
        return DataError("a file ends before its content does; is it empty or cut off?")
    if isinstance(error.__context__, BrokenPipeError):  # rich ends the process if nobody reads it
        return error
    return UserError(
        f"code that was loaded for this command called sys.exit({error.code!r}); remove the call"
    )


def wrong_usage(error: Any) -> UserError:
    """What to raise for a command line that cannot be read, instead of a box of several lines.

    error: that of the library for options, with its context.
    """
    message = str(error.format_message()).strip()
    message = f"{message[:1].lower()}{message[1:].removesuffix('.')}"
    for words, plainer in ((": Input should be", ": it should be"), (": Value error, ", ": ")):
        message = message.replace(words, plainer)
    # The command of a verb that also has subcommands has no name of its own, only a space.
    command = " ".join(error.ctx.command_path.split()) if error.ctx else "quantshift"
    if message.startswith(EXTRA) and (repeatable := _repeatable(error.ctx)):
        # The shell makes several files of a pattern that is not in quotes.
        message += f": give one file with each {repeatable}, or a pattern in quotes"
    where = " See" if message.endswith("?") else "; see"
    return UserError(f"{message}{where} {command} --help")


def _repeatable(context: Any) -> str | None:
    """The first option of a command that names a file and may be given several times."""
    options = (
        option
        for option in context.command.params
        if getattr(option, "multiple", False) and option.metavar == "FILE"
    )
    return next((option.opts[0] for option in options), None)


def ending(error: BaseException) -> Ending:
    """The line and the exit code for any error."""
    if isinstance(error, UserError):
        return Ending(str(error), BAD_INPUT)
    if isinstance(error, ModuleNotFoundError) and (missing := missing_package(error, "this needs")):
        return Ending(str(missing), BAD_INPUT)
    if isinstance(error, MemoryError):
        reason = f" ({error})" if str(error) else ""
        return Ending(
            f"not enough memory on this machine{reason}; reduce the size of the job", BAD_INPUT
        )
    if isinstance(error, OSError) and error.strerror:
        return Ending(_disk_error(error), BAD_INPUT)
    name, message = type(error).__name__, _shortened(str(error))
    return Ending(
        f"unexpected {name}{f': {message}' if message else ''}; the input may be damaged, and "
        "quantshift should have said where: please report this with what the option --debug shows",
        OWN_FAILURE,
    )


def fail(how: Ending) -> NoReturn:
    """Print the line and end the process."""
    _flushed()
    text = " ".join(without_credentials(how.message, sys.argv[1:]).split())
    # Imported here because a command that succeeds may need no console.
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=True, soft_wrap=True)
    with contextlib.suppress(OSError):
        try:
            console.print(f"[bold red]error:[/] {escape(text)}", highlight=False)
        except MemoryError:  # too little is left for colours
            os.write(sys.stderr.fileno(), f"error: {text}\n".encode(errors="replace"))
    sys.exit(how.code)


def show_traceback(error: BaseException) -> NoReturn:
    """Print where an error comes from, and end the process."""
    _flushed()
    lines = "".join(traceback.format_exception(error))
    with contextlib.suppress(OSError):
        sys.stderr.write(without_credentials(lines, sys.argv[1:]))
    sys.exit(OWN_FAILURE)


def flush_output() -> None:
    """Write what is still to be printed, or say that it cannot be written."""
    error = _flushed()
    if error is not None and error.errno == errno.EPIPE:
        sys.exit(OWN_FAILURE)  # the reader has gone, as in `quantshift list | head -1`
    if error is not None:
        fail(ending(error))


def _flushed() -> OSError | None:
    """The error, if any; Python would try again at the end, with a traceback and another code."""
    if sys.stdout is None:
        return None
    try:
        sys.stdout.flush()
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        return error
    return None


def _disk_error(error: OSError) -> str:
    if error.filename is None:
        return f"the output cannot be written ({error.strerror}); send it to another place"
    name = os.fsdecode(error.filename) if not isinstance(error.filename, int) else error.filename
    return f"{_shortened(str(name))}: {error.strerror}; choose another path"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_PART else f"{text[:LONGEST_PART]}..."
