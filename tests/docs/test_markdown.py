"""Formulas and docstrings on their way to HTML, and the links of the result."""

import markdown
import pytest
from math_core import LatexError

from website.docstrings import as_markdown
from website.formulas import mathml
from website.links import broken


def html(text):
    return markdown.markdown(text, extensions=["website.formulas", "tables"])


def test_a_formula_in_a_line_and_one_of_its_own():
    assert html("so $p_1$ is") == f"<p>so {mathml('p_1', block=False)} is</p>"
    assert '<p class="formula"><math display="block">' in html("words\n\n$$\na = b\n$$\n\nwords")
    assert html("so $a\n+ b$ is").count("<math") == 1


def test_what_is_no_formula_stays():
    assert html("it costs $5 and $6") == "<p>it costs $5 and $6</p>"
    assert html("in code `$x$`") == "<p>in code <code>$x$</code></p>"
    assert html(r"a \$x\$ b") == "<p>a $x$ b</p>" or "math" not in html(r"a \$x\$ b")


def test_a_wrong_formula_stops():
    with pytest.raises(LatexError):
        html(r"$\nosuchcommand{x}$")


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("Words only.", "Words only."),
        (
            "Two.\n\nvalues   nested,\n         as tuples\nsource   a file",
            "Two.\n\n- `values`: nested, as tuples\n- `source`: a file",
        ),
        (
            "prevalence, low: shapes\nlevel: a share\n    of one",
            "- `prevalence, low`: shapes\n- `level`: a share of one",
        ),
        (">>> f(1)\n2", "```pycon\n>>> f(1)\n2\n```"),
        ("Note: this is a sentence\nof two lines.", "Note: this is a sentence\nof two lines."),
    ],
)
def test_docstrings_become_markdown(docstring, expected):
    assert as_markdown(docstring) == expected
    assert as_markdown(expected) == expected


def test_broken_links_are_found(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "index.html").write_text('<h1 id="top">A</h1>', "utf-8")
    (tmp_path / "index.html").write_text(
        '<a href="a/">1</a><a href="a/#top">2</a><a href="https://example.org/x">3</a>'
        '<a href="b/">4</a><a href="a/#no">5</a><img src="c.png"><a href="#x">6</a>',
        "utf-8",
    )
    assert list(broken(tmp_path)) == [
        "index.html: b/",
        "index.html: a/#no",
        "index.html: c.png",
        "index.html: #x",
    ]
