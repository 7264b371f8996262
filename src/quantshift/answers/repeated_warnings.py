"""Warnings that say the same about many batches or columns, in one line each."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from quantshift.answers.words import some_names
from quantshift.base.nouns import counted

TO_A_LESSER_DEGREE = "the same holds to a lesser degree for: "
"""The beginning of a warning that adds columns to those of the warning before."""

_NUMBER = re.compile(r"(?<![\w.'-])\d[\d,]*(?:\.\d+)?(?![\w'-])")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_PLURAL = re.compile(r"(\0 \w+?)s?\b")
_OF_ONE_COLUMN = re.compile(r" \S+ to \S+,(?= the range of training)|, such as .*")
"""The part of a sentence that holds for its column only."""

_COLUMN = re.compile(r"column (?P<name>'[^']*'|\"[^\"]*\"): (?P<sentence>.*)", re.DOTALL)


def merged(warnings: Iterable[tuple[str, str]], n_batches: int | None = None) -> list[str]:
    """One line for warnings about several batches that differ at most in their numbers.

    warnings: the displayed name of the batch and what is said about it; the name is empty for a
    warning that is not about a batch. n_batches: how many there are, if the line is to say it.

    >>> merged([("AK", "only 3 items"), ("AL", "only 26 items"), ("CA", "empty")])
    ['in 2 batches (AK, AL): only 3 to 26 items', 'CA: empty']
    """
    lines = []
    for names, text in names_by_sentence(_columns_together(_kinds_together(warnings))):
        where = batches_text(names, n_batches) if len(names) > 1 else names[0]
        lines.append(f"{where}: {text}" if where else text)
    return lines


def batches_text(names: Sequence[str], n_batches: int | None = None) -> str:
    """In which batches something holds. n_batches: how many there are.

    >>> batches_text(["a", "b"], 9), batches_text(["a", "b"], 2), batches_text(["a", "b"])
    ('in 2 of 9 batches (a, b)', 'in all 2 batches', 'in 2 batches (a, b)')
    """
    if len(names) == n_batches:
        return f"in all {n_batches:,} batches"
    of_all = "" if n_batches is None else f" of {n_batches:,}"
    return f"in {len(names):,}{of_all} batches ({some_names(names)})"


def names_by_sentence(sentences: Iterable[tuple[str, str]]) -> list[tuple[list[str], str]]:
    """The names of the batches that each sentence is about; its numbers may differ.

    sentences: the name of a batch and what is said about it.

    >>> names_by_sentence([("a", "label 3 items"), ("b", "label 26 items")])
    [(['a', 'b'], 'label 3 to 26 items')]
    """
    alike: dict[tuple[bool, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, sentence in dict.fromkeys(sentences):
        # What is not about a batch is said once, whatever its numbers.
        key = _pattern(sentence) if name else sentence
        alike[bool(name), key][name].append(sentence)
    return [
        (list(group), _with_ranges([text for texts in group.values() for text in texts]))
        for group in alike.values()
    ]


def unless_about_all(sentences: Iterable[tuple[str, str]], n_all: int) -> list[str]:
    """Each sentence once, with the names that it is about unless it is about all of them.

    sentences: a name and what is said about it. n_all: how many names there are.

    >>> unless_about_all([("a", "odd"), ("b", "odd"), ("a", "rare")], 2)
    ['odd', 'a: rare']
    """
    return [
        sentence if len(names) == n_all else f"{some_names(names)}: {sentence}"
        for names, sentence in names_by_sentence(sentences)
    ]


def _kinds_together(warnings: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Warnings about columns of batches, one for each kind in each of its batches.

    They name all columns that have such a warning in any batch, those of most batches first; what
    differs between columns is left out.
    """
    kinds: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    others: list[tuple[str, str]] = []
    kind_before = ""
    for batch, warning in warnings:
        match = _COLUMN.fullmatch(warning)
        if not batch:
            others.append((batch, warning))
        elif match is not None:
            sentence = _OF_ONE_COLUMN.sub("", match["sentence"])
            kind_before = _pattern(sentence)
            kinds[kind_before].append((batch, match["name"], sentence))
        elif warning.startswith(TO_A_LESSER_DEGREE) and kind_before:
            sentence = kinds[kind_before][-1][2]
            kinds[kind_before] += [(batch, name, sentence) for name in _QUOTED.findall(warning)]
        else:
            others.append((batch, warning))
    together = []
    for entries in kinds.values():
        batches = list(dict.fromkeys(batch for batch, *_ in entries))
        columns = Counter(name for _, name, _ in entries)
        text = _with_ranges([sentence for *_, sentence in entries])
        not_all = len({entry[:2] for entry in entries}) < len(batches) * len(columns)
        sentence = _about_columns([name for name, _ in columns.most_common()], text)
        if not_all:
            sentence = f"some of {sentence}"
        together += [(batch, sentence) for batch in batches]
    return [*others, *together]


def _columns_together(warnings: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """One warning for all columns of a batch with the same warning, at the place of the first."""
    columns: dict[tuple[str, str], list[str]] = defaultdict(list)
    for batch, warning in warnings:
        match = _COLUMN.fullmatch(warning)
        names = columns[batch, warning if match is None else match["sentence"]]
        if match is not None and match["name"] not in names:
            names.append(match["name"])
    return [
        (batch, _about_columns(names, sentence)) for (batch, sentence), names in columns.items()
    ]


def _about_columns(names: Sequence[str], sentence: str) -> str:
    if not names:
        return sentence
    noun = "column" if len(names) == 1 else counted(len(names), "column")
    return f"{noun} {some_names(names)}: {sentence}"


def _pattern(warning: str) -> str:
    """The warning without its numbers; those in quoted names stay.

    >>> _pattern("only 1 item in 'x 2'") == _pattern("only 30 items in 'x 2'")
    True
    """
    masked = _outside_quotes(warning, lambda text: _NUMBER.sub("\0", text))
    return _PLURAL.sub(r"\1", masked)


def _with_ranges(warnings: Sequence[str]) -> str:
    """The longest of warnings that differ at most in numbers, with ranges of the numbers."""
    numbers = [[n for text in _QUOTED.split(w) for n in _NUMBER.findall(text)] for w in warnings]
    ranges = iter([_range(column) for column in zip(*numbers, strict=True)])
    return _outside_quotes(
        max(warnings, key=len), lambda text: _NUMBER.sub(lambda _: next(ranges), text)
    )


def _range(numbers: Sequence[str]) -> str:
    low, high = (end(numbers, key=lambda n: float(n.replace(",", ""))) for end in (min, max))
    return low if low == high else f"{low} to {high}"


def _outside_quotes(text: str, change: Callable[[str], str]) -> str:
    parts, end = [], 0
    for quoted in _QUOTED.finditer(text):
        parts += [change(text[end : quoted.start()]), quoted.group()]
        end = quoted.end()
    return "".join([*parts, change(text[end:])])
