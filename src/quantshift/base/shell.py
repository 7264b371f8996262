"""Commands as a shell reads them, ready to paste."""

import os
import shlex
from collections.abc import Iterable

from quantshift.credentials import public_url

_NAMED = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\\": r"\\", "'": r"\'"}


def command_line(words: Iterable[str]) -> str:
    """The words of a command in one line; URLs are shown without passwords.

    >>> command_line(["quantshift", "sketch", "my file.csv"])
    "quantshift sketch 'my file.csv'"
    """
    return " ".join(quoted(public_url(word)) for word in words)


def quoted(word: str) -> str:
    r"""A word in quotes if it needs them; characters that cannot be seen are written as codes.

    >>> print(quoted("a\tb.csv"), quoted("a\u202eb.csv"))
    $'a\tb.csv' $'a\342\200\256b.csv'
    """
    if word.isprintable():
        return shlex.quote(word)
    return f"$'{''.join(map(_coded, word))}'"


def _coded(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    if character.isprintable():
        return character
    # Octal, because shells differ in how many hexadecimal digits they take for a code.
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(character))
