from itertools import pairwise

import pytest

from quantshift.answers.shell.colours import ON_DARK, PALETTE
from quantshift.lab.analysis.methods import ORDER
from quantshift.lab.report.page.payload import SHAPES
from quantshift.lab.report.style.marks import MARKERS, METHOD_STYLE, method_styles


def luminance(colour):
    """Relative luminance of a colour, as in the contrast ratio of WCAG 2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_the_papers_methods_differ_in_everything():
    assert tuple(METHOD_STYLE) == ORDER
    for part in zip(*METHOD_STYLE.values(), strict=True):
        assert len(set(part)) == len(ORDER)


def test_colours_show_on_white_and_on_dark():
    assert {style.colour for style in METHOD_STYLE.values()} <= set(PALETTE)
    for colour in PALETTE:
        assert 1.05 / (luminance(colour) + 0.05) > 2
        on_dark = ON_DARK.get(colour, colour)
        assert (luminance(on_dark) + 0.05) / (luminance("#1a1a1a") + 0.05) > 2.5


def test_unknown_methods_get_styles_of_their_own():
    styles = method_styles(["CC", "Mine", "Yours"])
    assert styles["CC"] == METHOD_STYLE["CC"]
    assert len({*METHOD_STYLE.values(), styles["Mine"], styles["Yours"]}) == len(ORDER) + 2


def test_no_look_comes_twice():
    names = [*ORDER, *(f"Mine{i}" for i in range(400))]
    looks = [(s.colour, s.marker, s.dash) for s in method_styles(names).values()]
    assert len(set(looks)) == len(names)


def test_neighbours_of_forty_methods_differ_in_everything():
    styles = list(method_styles(f"Mine{i:02d}" for i in range(40)).values())
    for one, other in pairwise(styles):
        assert all(a != b for a, b in zip(one, other, strict=True))


def test_every_marker_has_a_shape_on_the_page():
    assert {*MARKERS, *(style.marker for style in METHOD_STYLE.values())} <= set(SHAPES)


def test_the_papers_methods_keep_their_looks_among_any_others():
    names = ["Yours", "CC", "Mine", "SLD"]
    styles = method_styles(names)
    assert list(styles) == ["CC", "SLD", "Mine", "Yours"]
    assert styles["SLD"] == METHOD_STYLE["SLD"]


@pytest.mark.parametrize("names", [ORDER, ("CC", "SLD"), ()])
def test_twelve_methods_have_twelve_colours(names):
    methods = [*names, *(f"Mine{i:02d}" for i in range(12 - len(names)))]
    styles = method_styles(methods).values()
    assert len({style.colour for style in styles}) == 12
    assert len({ON_DARK.get(style.colour, style.colour) for style in styles}) == 12
