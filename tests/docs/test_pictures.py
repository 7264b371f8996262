"""The drawn figures: what is in the repository is what the script draws, and it can be read."""

import re
from xml.etree import ElementTree

import pytest
from PIL import Image

from quantshift.quantifiers.base import catalogue
from website.examples import blocks
from website.pages import DOCS
from website.pictures import DECISIONS, ILLUSTRATIONS, LEFT, PICTURES, RIGHT, STEPS, WIDTH, decision
from website.three_kinds import ANSWERS, TRUE_SHARE, three_kinds

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", DECISIONS)
def test_the_figure_is_what_the_script_draws(name: str) -> None:
    drawn = decision(*DECISIONS[name])
    assert (PICTURES / f"{name}.svg").read_text(encoding="utf-8") == drawn, (
        "run `python -m website.pictures`"
    )


@pytest.mark.parametrize("name", DECISIONS)
def test_every_text_fits_its_box_and_every_box_the_sheet(name: str) -> None:
    head, steps = DECISIONS[name]
    root = ElementTree.fromstring(decision(head, steps))
    height = float(root.attrib["viewBox"].split()[3])
    for box in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(box.attrib[name]) for name in ("x", "y", "width", "height"))
        assert min(x, y) >= 0
        assert x + w <= WIDTH
        assert y + h <= height
    # Wide fonts need some 0.56 em per letter.
    for step in steps:
        for part, (_, width) in ((step.situation, LEFT), (step.answer, RIGHT)):
            assert all(0.56 * 15 * len(line) < width for line in part.lines)
            assert 0.56 * 13 * len(part.small) < width


@pytest.mark.parametrize("name", DECISIONS)
def test_every_text_lies_on_a_filled_box(name: str) -> None:
    # Otherwise it could not be read on both light and dark pages.
    root = ElementTree.fromstring(decision(*DECISIONS[name]))
    boxes = [
        [float(box.attrib[name]) for name in ("x", "y", "width", "height")]
        for box in root.iter(f"{SVG}rect")
        if box.attrib["fill"] != "none"
    ]
    for text in root.iter(f"{SVG}text"):
        at_x, at_y = float(text.attrib["x"]), float(text.attrib["y"])
        assert any(x < at_x < x + w and y < at_y < y + h for x, y, w, h in boxes), text.text


def test_methods_named_exist() -> None:
    named = {step.answer.lines[0] for step in STEPS} - {"Label some items"}
    assert named <= set(catalogue.quantifiers())


@pytest.mark.parametrize("name", ILLUSTRATIONS)
def test_every_illustration_is_there_and_shown(name: str) -> None:
    with Image.open(PICTURES / f"shift-{name}.png") as picture:
        assert picture.width == 1400
    assert f"(pictures/shift-{name}.png)" in (DOCS / "shifts.md").read_text(encoding="utf-8")


def test_the_kinds_of_answer_are_those_that_the_page_shows() -> None:
    drawn = (PICTURES / "three-kinds.svg").read_text(encoding="utf-8")
    assert drawn == three_kinds(), "run `python -m website.pictures`"
    page = (DOCS / "guides" / "is-it-true.md").read_text(encoding="utf-8")
    outputs = "".join(block.body for block in blocks(page) if block.language in ("console", ""))
    assert f"{TRUE_SHARE}% of 696 customers left" in outputs
    for answer in ANSWERS:
        # Where nothing can be estimated the limits follow other words.
        assert re.search(rf"{re.escape(answer.limits)}(\)| of 696 items)", outputs)
        assert f"{answer.kind}, {answer.limits}" in page


def test_the_kinds_of_answer_stay_on_their_sheet() -> None:
    root = ElementTree.fromstring(three_kinds())
    width = float(root.attrib["viewBox"].split()[2])
    for text in root.iter(f"{SVG}text"):
        # Wide fonts need some 0.56 em per letter.
        size = float(text.attrib.get("font-size", 14))
        length = 0.56 * size * len(text.text)
        left = {"end": -length, "middle": -length / 2}.get(text.attrib.get("text-anchor"), 0)
        assert float(text.attrib["x"]) + left >= 0, text.text
        assert float(text.attrib["x"]) + left + length <= width, text.text
