"""Spellings: names that differ only in case or blanks, and names that do not look like labels."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from quantshift.claims.findings import Finding
from quantshift.tables.columns.findings import TableFindings

RARELY = 0.02
"""The largest share of the labels that one which looks mistyped may have."""

PLACEHOLDERS = frozenset(
    [
        *("-", "--", "–", "—", "?", "??", ".", "...", "#n/a", "n.a.", "na"),
        *("missing", "pending", "tbd", "todo", "unknown", "unlabeled", "unlabelled"),
    ]
)
"""Labels that often mean that there is none, as `spelling_key` writes them."""

SAME_MEANING = {"y": "yes", "true": "yes", "1": "yes", "n": "no", "false": "no", "0": "no"}
"""Labels that mean what another one means, as `spelling_key` writes them."""


def spelling_key(name: str) -> str:
    """What names that differ only in case, in blanks or in what cannot be seen have in common.

    >>> spelling_key(" Month-to-month "), spelling_key("TWO  YEAR"), spelling_key("no\\u200b")
    ('month-to-month', 'two year', 'no')
    """
    return " ".join(as_seen(name).split()).casefold()


def as_seen(name: str) -> str:
    """A name without what cannot be seen: zero-width characters, and how accents are composed."""
    if name.isascii():
        return name
    composed = unicodedata.normalize("NFC", name)
    return "".join(c for c in composed if unicodedata.category(c) != "Cf")


def usual_spellings(counts: Mapping[str, int], right: Sequence[str] = ()) -> dict[str, str]:
    """Names that differ from another only in case or blanks, and the usual spelling of each.

    counts: that of each name; the most frequent spelling is the usual one. right: names whose
    spelling is known to be right.

    >>> usual_spellings({"pass": 80, "Pass": 1, "fail": 20})
    {'Pass': 'pass'}
    """
    usual: dict[str, str] = {}
    for name in [*right, *sorted(counts, key=lambda name: (-counts[name], name))]:
        usual.setdefault(spelling_key(name), name)
    return {
        name: usual[spelling_key(name)]
        for name in counts
        if name not in right and usual[spelling_key(name)] != name
    }


def known_spellings(names: Iterable[str], known_names: Iterable[str]) -> dict[str, str]:
    """For each unknown name the known one that differs from it only in case or blanks.

    Names that fit several known ones are left alone.

    >>> known_spellings(["TWO YEAR", "three"], ["Two year", "One year"])
    {'TWO YEAR': 'Two year'}
    """
    alike = defaultdict(list)
    for name in known_names:
        alike[spelling_key(name)].append(name)
    fits = {name: alike.get(spelling_key(name), []) for name in names}
    return {
        name: fitting[0]
        for name, fitting in fits.items()
        if len(fitting) == 1 and fitting[0] != name
    }


def mistyped(counts: Mapping[str, int]) -> dict[str, str]:
    """Names that are rare and look like a common one; numbers are never taken for each other.

    >>> mistyped({"pass": 80, "pss": 1, "fail": 20})
    {'pss': 'pass'}
    """
    total = sum(counts.values())
    corrections = {}
    for name, n in counts.items():
        if n > RARELY * total or is_number(name):
            continue
        common = [other for other, m in counts.items() if m >= 10 * n and other != name]
        if near := get_close_matches(name, common, n=1, cutoff=0.7):
            corrections[name] = near[0]
    return corrections


def alike(names: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of names that differ only in case.

    >>> alike(["no", "yes", "NO"])
    [('no', 'NO')]
    """
    first: dict[str, str] = {}
    pairs = []
    for name in names:
        earlier = first.setdefault(name.casefold(), name)
        if earlier != name:
            pairs.append((earlier, name))
    return pairs


def respelt_labels(
    counts: Mapping[str, int],
    usual: Mapping[str, str],
    code: TableFindings = TableFindings.RESPELT_LABELS,
) -> Iterator[Finding]:
    """A finding if labels are taken as one class. usual: the spelling used for each.

    code: that of what they are, if they are not labels.

    >>> (found,) = respelt_labels({"pass": 80, "Pass": 1, "fail": 20}, {"Pass": "pass"})
    >>> found.sentence
    "1 label that differs only in case or blanks is treated as another: 'Pass' (1) as 'pass'"
    """
    if not usual:
        return
    by_class = defaultdict(list)
    for form, name in sorted(usual.items()):
        by_class[name].append(f"{as_written(form)} ({counts[form]:,})")
    spellings = (f"{', '.join(forms)} as {as_written(name)}" for name, forms in by_class.items())
    is_unseen = any(as_seen(form) != form or as_seen(name) != name for form, name in usual.items())
    n = sum(counts[form] for form in usual)
    yield code.found(n=n, unseen=is_unseen, spellings=tuple(spellings))


def as_written(name: str) -> str:
    """A name in quotes; accents that are characters of their own are written as codes, to be seen.

    >>> print(as_written("é"), as_written("e\\u0301"))
    'é' 'e\\u0301'
    """
    return repr(name) if unicodedata.is_normalized("NFC", name) else ascii(name)


def mistyped_labels(counts: Mapping[str, int]) -> Iterator[Finding]:
    """A finding for each label that looks mistyped."""
    n_labels = sum(counts.values())
    for odd, name in mistyped(counts).items():
        yield TableFindings.MISTYPED_LABEL.found(
            label=odd, n=counts[odd], n_labels=n_labels, usual=name
        )


def placeholder_labels(counts: Mapping[str, int]) -> Iterator[Finding]:
    """A finding for each label that usually stands for none; '-' beside '+' is a label.

    >>> [found.numbers["label"] for found in placeholder_labels({"-": 80, "pass": 20})]
    ['-']
    >>> list(placeholder_labels({"-": 80, "+": 20}))
    []
    """
    n_labels = sum(counts.values())
    for name, n in counts.items():
        if spelling_key(name) in PLACEHOLDERS and not (name == "-" and "+" in counts):
            yield TableFindings.PLACEHOLDER_LABEL.found(label=name, n=n, n_labels=n_labels)


def synonymous_labels(counts: Mapping[str, int]) -> Iterator[Finding]:
    """Labels that probably mean the same, as where tables of two sources were joined.

    >>> [found.numbers["labels"] for found in synonymous_labels({"1": 80, "0": 90, "true": 20})]
    [{'1': 80, 'true': 20}]
    >>> list(synonymous_labels({"2024001": 80, "2024002": 90}))
    []
    """
    alike = defaultdict(list)
    for name in counts:
        key = spelling_key(name)
        key = f"{float(key):.17g}" if is_number(key) else key
        alike[SAME_MEANING.get(key, key)].append(name)
    for names in alike.values():
        if len(names) > 1:
            labels = {name: counts[name] for name in names}
            yield TableFindings.SYNONYMOUS_LABELS.found(n=len(names), labels=labels)


def odd_labels(counts: Mapping[str, int]) -> Iterator[Finding]:
    """Labels that look mistyped, that mean that there is none, or that mean the same as others."""
    yield from mistyped_labels(counts)
    yield from placeholder_labels(counts)
    yield from synonymous_labels(counts)


def is_number(name: str) -> bool:
    """Whether the name is a number.

    >>> is_number("1e3"), is_number("one")
    (True, False)
    """
    try:
        float(name)
    except ValueError:
        return False
    return True
