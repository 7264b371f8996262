"""Every method says what to cite for it, and CITATION.cff and Zenodo's file agree with it."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

import quantshift
from quantshift.errors import UserError
from quantshift.quantifiers.base import catalogue
from quantshift.quantifiers.base.citations import PAPER, bibtex, references, software, works_of

ROOT = Path(__file__).parents[3]
OWN = {"MLPE"}
"""A baseline without a source."""


@pytest.mark.parametrize("name", sorted(catalogue.quantifiers()))
def test_every_method_names_its_sources(name):
    works = works_of([name])
    assert bool(works) == (name not in OWN)
    for work in works:
        assert 1950 < work.year < 2030
        assert len(work.title) > 15
        assert all(re.fullmatch(r"others|(?:[A-Z]\.[ -]?)+[A-Za-z' -]+", a) for a in work.authors)
        assert not re.search(r"\b(19|20)\d\d\b(?!\.)", work.place)


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("ACC", ["forman2008quantifying"]),
        ("PACC", ["bella2010quantification"]),
        ("CC", ["forman2005counting"]),
        ("HDy", ["gonzalezcastro2013class"]),
        ("PQ", ["igiraneza2025estimating", "moreo2025kernel"]),
        ("KDEyML", ["moreo2025kernel"]),
        ("DMy", ["firat2016unified", "moreo2021quapy"]),
        ("QuaDapt", ["maletzke2021accurately", "ortega2025quadapt"]),
        ("SubclassSLD", ["saerens2002adjusting", "schwarz1978estimating"]),
    ],
)
def test_the_sources_of_some_methods(name, keys):
    assert [work.key for work in works_of([name])] == keys


def test_an_entry_of_bibtex():
    assert works_of(["ContinuousSweep"])[0].to_bibtex() == (
        "@misc{kloos2023continuous,\n"
        "  author = {K. Kloos and J. Karch and Q. Meertens and S. Scholtus and M. de Rooij},\n"
        "  title = {{Continuous Sweep for binary quantification learning}},\n"
        "  howpublished = {arXiv 2308.08387},\n"
        "  year = {2023},\n"
        "}"
    )


def test_a_source_of_two_methods_is_printed_once():
    assert bibtex(["KDEyML", "KDEyCS", "PQ"]).count("Kernel density estimation") == 1


def test_two_sources_of_one_key_are_the_same():
    titles: dict[str, set[str]] = {}
    for name in catalogue.quantifiers():
        for work in works_of([name]):
            titles.setdefault(work.key, set()).add(work.title)
    assert len(titles) > 30
    assert [found for found in titles.values() if len(found) > 1] == []


def test_a_name_that_is_no_method_is_refused(quantshift):
    with pytest.raises(UserError, match="did you mean 'PACC'"):
        bibtex(["PACK"])
    code, _, told = quantshift("cite", "PACK")
    assert (code, told.startswith("error: unknown method 'PACK'; did you mean 'PACC'?")) == (
        2,
        True,
    )


def test_the_command_prints_the_software_and_the_paper(quantshift):
    code, told, _ = quantshift("cite")
    assert code == 0
    assert told == f"{software()}\n\n{PAPER.to_bibtex()}\n"


@pytest.mark.parametrize("entry", ["A. B., no title, 2020", 'A. B., "A title", nowhere'])
def test_a_reference_that_cannot_be_read_is_an_error(entry):
    with pytest.raises(ValueError, match="not of the form"):
        references(f"A method.\n\nReference: {entry}.")


def test_the_files_for_others_say_the_same():
    about = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert about["version"] == quantshift.__version__
    assert about["license"] == zenodo["license"] == project["license"]
    assert about["title"] == zenodo["title"]
    assert f"{{{about['title']}}}" in software()
    assert " ".join(about["abstract"].split()) == zenodo["description"]
    assert about["keywords"] == zenodo["keywords"] == project["keywords"]
    assert about["repository-code"] == project["urls"]["Repository"]
    assert project["urls"]["Repository"] in software()
    authors = [author["name"] for author in about["authors"]]
    assert authors == [creator["name"] for creator in zenodo["creators"]]
    assert authors == [author["name"] for author in project["authors"]]
    paper = about["references"][0]
    assert (paper["title"], paper["year"]) == (PAPER.title, PAPER.year)
    named = [f"{author['given-names']} {author['family-names']}" for author in paper["authors"]]
    assert tuple(named) == PAPER.authors
    identifier = paper["identifiers"][0]["value"]
    assert identifier == zenodo["related_identifiers"][0]["identifier"]
    assert identifier.replace(":", " ") == PAPER.place
