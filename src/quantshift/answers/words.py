"""Shares, names and lists in plain words: percentages, limits, displayed names."""

from collections.abc import Iterable, Mapping, Sequence

from quantshift.answers.shares import Share
from quantshift.base.nouns import MOST_NAMED, RARE, first_names

TRUTH_VALUES = frozenset({"true", "false", "yes", "no", "t", "f", "y", "n"})

POSITIVE_NAMES = frozenset({"yes", "y", "true", "t", "1", "1.0", "+1", "positive", "pos", "+"})
"""What people call the class that they ask about, in lower case."""

FOR_ALL = "for all labels at once"
"""The header of limits that hold for all labels."""

ELLIPSIS = "…"

LONGEST_NAME = 40
"""Longer names are shortened in the middle for display."""


def limits(low: float, high: float) -> str:
    """Two limits as percentages, with enough decimals to distinguish them.

    >>> limits(0.381, 0.45), limits(0.0007, 0.0131)
    ('38.1 to 45.0%', '0.07 to 1.31%')
    """
    decimals = 2 if 0 < high < 2 * RARE else 1
    return f"{100 * low:.{decimals}f} to {100 * high:.{decimals}f}%"


def decimals(shares: Iterable[float | None], rare: float = RARE) -> int:
    """Decimals of percentages in one column: more than one if shares are rare, or all tiny.

    >>> decimals([0.0, 0.25, None]), decimals([0.0, 0.0015, 0.25]), decimals([0.0, 0.00004])
    (1, 2, 4)
    """
    estimated = [share for share in shares if share is not None]
    largest = max(estimated, default=0.0)
    if 0 < largest < 5e-4:
        return 3 if largest >= 5e-5 else 4
    # Smaller shares are shown as zero, with one decimal or with two.
    return 2 if any(5e-5 <= share < rare for share in estimated) else 1


def percents(shares: Sequence[float | None]) -> list[str]:
    """A column of percentages with the same number of decimals; a question mark for None.

    >>> percents([0.0, 0.0015, None])
    ['0.00%', '0.15%', '?']
    """
    n_decimals = decimals(shares)
    return ["?" if share is None else f"{100 * share:.{n_decimals}f}%" for share in shares]


def estimates_and_limits(shares: Sequence[Share]) -> list[tuple[str, str]]:
    """Two columns of a table, estimates and limits, each with the same number of decimals.

    Of two intervals of which one holds both are there, and no estimate.

    >>> estimates_and_limits([Share("a", 0.002, 0.0, 0.3), Share("b", 0.5, 0.4, 0.6)])
    [('0.20%', '0.0 to 30.0%'), ('50.00%', '40.0 to 60.0%')]
    """
    n_decimals = decimals((share.high for share in shares), 2 * RARE)
    bounds = [
        " or ".join(
            f"{100 * p.low:.{n_decimals}f} to {100 * p.high:.{n_decimals}f}%" for p in s.parts
        )
        for s in shares
    ]
    return list(zip(percents([share.estimate for share in shares]), bounds, strict=True))


def held_by(classes: Sequence[str], *, simultaneous: bool) -> str:
    """What intervals of more than two classes hold for."""
    if len(classes) == 2:
        return ""
    return "for all classes at once" if simultaneous else "for each class on its own"


def about_limits(level: float) -> str:
    """What the limits of several labels hold for, in a sentence. level: that of each label."""
    return (
        f"Limits hold for each label at {100 * level:g}% and, wider, for all labels of a batch at "
        "once; limits that are marked as a range are what remains possible."
    )


def level_of_each(level_for_all: float) -> str:
    """At which level the limits of each label hold, if those of all labels are to hold at once."""
    return f"{FOR_ALL}: at the level {100 * level_for_all:.4g}% (Bonferroni)"


def headline_class(
    labels: Sequence[str],
    positive: str | None = None,
    counts: Mapping[str, int] | None = None,
) -> str:
    """The headline class: the one named positive, the one called yes, true, 1 or positive, or the
    rarest.

    positive: what the user calls the positive class. counts: of the labels in training; without
    them, or if they are equal, the second of two classes and the first of more.

    >>> headline_class(["No", "Yes"]), headline_class(["a", "b"], None, {"a": 1, "b": 3})
    ('Yes', 'a')
    >>> headline_class(["0", "1", "2"], None, {"0": 5, "1": 9, "2": 4})
    '2'
    """
    if positive is not None:
        return positive
    called_positive = [label for label in labels if label.strip().lower() in POSITIVE_NAMES]
    if len(labels) > 2:
        # The 1 of ten digits is no yes.
        called_positive = [label for label in called_positive if not _says_nothing(label)]
    if len(called_positive) == 1:
        return called_positive[0]
    usual = labels[1] if len(labels) == 2 else labels[0]
    frequencies = counts or {}
    return min(labels, key=lambda label: (frequencies.get(label, 0), label != usual))


def class_names(label: str | None, classes: Sequence[str]) -> dict[str, str]:
    """Displayed names of classes: with the label column if the names alone say nothing.

    >>> class_names("Exited", ["0", "1"])
    {'0': 'Exited = 0', '1': 'Exited = 1'}
    >>> class_names("sentiment", ["negative", "positive"])
    {'negative': 'negative', 'positive': 'positive'}
    """
    if label is None or not all(_says_nothing(name) for name in classes):
        return {name: name for name in classes}
    return {name: f"{label} = {name}" for name in classes}


def are_yes_and_no(labels: Sequence[str]) -> bool:
    """Whether the classes are the answers to a question, so that there can be no other.

    >>> are_yes_and_no(["0", "1"]), are_yes_and_no(["True", "False"]), are_yes_and_no(["a", "b"])
    (True, True, False)
    """
    return len(labels) == 2 and all(name.lower() in TRUTH_VALUES | {"0", "1"} for name in labels)


def one_line(text: str) -> str:
    """The text without line breaks and control characters, for terminals and charts.

    >>> one_line("a\\u2028b")
    'a b'
    """
    return "".join(character if character.isprintable() else " " for character in text)


def sentence(text: str) -> str:
    """A text with a capital letter and a full stop.

    >>> sentence("no alarm")
    'No alarm.'
    """
    return f"{text[:1].upper()}{text[1:]}."


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """A name on one line, cut in the middle if it is long.

    >>> shortened("2026-01-05 to 2026-01-11, region north", 21)
    '2026-01-05…gion north'
    """
    line = one_line(name)
    if len(line) <= longest:
        return line
    end = (longest - 1) // 2
    return f"{line[: longest - 1 - end]}{ELLIPSIS}{line[len(line) - end :]}"


def some_names(names: Sequence[str], longest: int = LONGEST_NAME, *, most: int = MOST_NAMED) -> str:
    """The first names, and how many more. longest: longer names are shortened. most: named ones.

    >>> some_names(list("abcdefgh"))
    'a, b, c, d, e, f and 2 more'
    """
    return first_names([shortened(name, longest) for name in names[:most]], most, of=len(names))


def _says_nothing(name: str) -> bool:
    """Whether a label is a bare number or truth value.

    >>> [_says_nothing(name) for name in ("1", "-0.5", "True", "spam")]
    [True, True, True, False]
    """
    return name.lower() in TRUTH_VALUES or name.lstrip("+-").replace(".", "", 1).isdecimal()
