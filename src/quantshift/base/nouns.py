"""Numbers with their nouns, and lists of names, for messages."""

from collections.abc import Sequence


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """The number with its noun.

    plural: for a noun whose plural does not end in s or es.

    >>> counted(1, "cell"), counted(1200, "cell"), counted(0, "class"), counted(2, "axis", "axes")
    ('1 cell', '1,200 cells', '0 classes', '2 axes')
    """
    several = plural or (f"{noun}es" if noun.endswith("s") else f"{noun}s")
    return f"{count:,} {noun if count == 1 else several}"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names as a part of a sentence.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"], "or")
    ('a', 'a and b', 'a, b or c')
    """
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
