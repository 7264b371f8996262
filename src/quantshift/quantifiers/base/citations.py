"""What to cite: the references in the docstring of each method's module, as BibTeX.

A docstring ends with "References:" and entries such as

    G. Forman, "Quantifying counts and costs via classification", DMKD 2008 (ACC); A. Bella et al.,
    "Quantification via probability estimators", ICDM 2010 (PACC).

The names of methods in brackets say whose reference it is; without them it is that of all methods
of the module.
"""

import inspect
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import quantshift

_LISTED = re.compile(r"^References?: (.*?)\.?\s*(?:\n\n|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r'(?P<authors>[^"]+), "(?P<title>[^"]+)", (?P<place>.+)', re.DOTALL)
_YEAR = re.compile(r",? ?\(?\b((?:19|20)\d\d)\b\)?,? ?")
_BRACKETS = re.compile(r" ?\(([^()]*)\)$")


@dataclass(frozen=True)
class Work:
    """A publication. methods: the names in brackets behind it; place: where it was published."""

    authors: tuple[str, ...]
    title: str
    place: str
    year: int
    methods: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The first author, the year and the first word of the title: forman2008quantifying."""
        surname = self.authors[0].rpartition(" ")[2]
        first = re.sub(r"\W", "", self.title.split()[0])
        return re.sub(r"\W", "", f"{surname}{self.year}{first}").lower()

    def to_bibtex(self) -> str:
        """The entry, with braces that keep the capitals of the title."""
        fields = {
            "author": " and ".join(self.authors),
            "title": f"{{{self.title}}}",
            "howpublished": self.place,
            "year": str(self.year),
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        return "\n".join([f"@misc{{{self.key},", *lines, "}"])


PAPER = Work(
    ("Pablo González", "Alejandro Moreo", "Fabrizio Sebastiani"),
    "Binary Quantification and Dataset Shift: An Experimental Investigation",
    "arXiv 2310.04565",
    2023,
)
"""The paper whose experiments quantshift reproduces."""


def software() -> str:
    """The BibTeX of this version of quantshift."""
    fields = {
        "author": "{The quantshift founders}",
        "title": "{quantshift: quantification under dataset shift}",
        "version": quantshift.__version__,
        "url": "https://github.com/quantshift/quantshift",
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join(["@software{quantshift,", *lines, "}"])


def works_of(methods: Iterable[str]) -> list[Work]:
    """The publications behind the methods, each once.

    methods: names of the catalogue, or users' own as "FILE.py:Class" or "package.module:Class".
    """
    from quantshift.quantifiers.base import catalogue

    works: dict[str, Work] = {}
    for name in methods:
        for work in _of_class(catalogue.quantifier_class(name)):
            works.setdefault(work.key, work)
    return list(works.values())


def bibtex(methods: Sequence[str] = ()) -> str:
    """What to cite for these methods: quantshift, and the publications behind them.

    Without methods: quantshift, and the paper whose experiments it reproduces.
    """
    works = works_of(methods) if methods else [PAPER]
    return "\n\n".join([software(), *(work.to_bibtex() for work in works)])


def _of_class(cls: type[Any]) -> list[Work]:
    module = sys.modules[cls.__module__]
    works = references(inspect.getdoc(module) or "")
    class_names = {name for name, value in vars(module).items() if inspect.isclass(value)}
    return [
        work
        for work in works
        # Brackets that name no method of the module are remarks.
        if cls.__name__ in work.methods or not class_names & set(work.methods)
    ]


def references(docstring: str) -> list[Work]:
    """The publications that a docstring lists.

    >>> docstring = '''Counting.
    ...
    ... Reference: A. Bella et al., "Quantification via probability
    ... estimators", ICDM 2010 (PCC).'''
    >>> references(docstring)[0].authors, references(docstring)[0].methods
    (('A. Bella', 'others'), ('PCC',))
    """
    listed = _LISTED.search(docstring)
    if listed is None:
        return []
    text = " ".join(listed[1].split())
    # A semicolon may be part of a title.
    return [_work(entry) for entry in re.findall(r'(?:[^;"]|"[^"]*")+', text)]


def _work(entry: str) -> Work:
    parts = _ENTRY.fullmatch(entry.strip())
    if parts is None or (year := _YEAR.search(parts["place"])) is None:
        raise ValueError(f'not of the form AUTHORS, "TITLE", PLACE YEAR (METHODS): {entry.strip()}')
    brackets = _BRACKETS.search(parts["place"])
    is_year = brackets is not None and brackets[1] == year[1]
    methods = () if brackets is None or is_year else tuple(brackets[1].split(", "))
    place = parts["place"].partition(", for ")[0]
    if methods and all(name.isidentifier() for name in methods):
        place = _BRACKETS.sub("", place)
    return Work(
        authors=_authors(parts["authors"]),
        title=parts["title"],
        place=_YEAR.sub(" ", place, count=1).replace("(", "").replace(")", "").strip(),
        year=int(year[1]),
        methods=methods,
    )


def _authors(text: str) -> tuple[str, ...]:
    """The authors, one by one; BibTeX calls et al. "others".

    >>> _authors("A. Iyer, S. Nath and S. Sarawagi"), _authors("C. Ye et al.")
    (('A. Iyer', 'S. Nath', 'S. Sarawagi'), ('C. Ye', 'others'))
    """
    return tuple(re.split(r", | and ", text.strip().replace(" et al.", " and others")))
