"""Numbers with their nouns, for messages."""


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """The number with its noun.

    plural: for a noun whose plural does not end in s or es.

    >>> counted(1, "cell"), counted(1200, "cell"), counted(0, "class"), counted(2, "axis", "axes")
    ('1 cell', '1,200 cells', '0 classes', '2 axes')
    """
    several = plural or (f"{noun}es" if noun.endswith("s") else f"{noun}s")
    return f"{count:,} {noun if count == 1 else several}"
