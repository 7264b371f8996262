"""Formulas to MathML while the site is built: `$...$` in a line, `$$...$$` as a paragraph.

Browsers render MathML natively, so a page needs no script or external font. A formula that cannot
be converted stops the build.
"""

import re
from xml.etree.ElementTree import Element, SubElement

from markdown import Markdown
from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from math_core import LatexToMathML

# A dollar sign before a blank, or next to a word, is money and not a formula.
_INLINE = r"(?<![\\$\w])\$(?![\s$])([^$\n]+?(?:\n[^$\n]+?)?)(?<!\s)\$(?![\w$])"
_PARAGRAPH = re.compile(r"^\$\$(.+?)\$\$([.,;]?)$", re.DOTALL)
# Between code (190) and escapes (180), because a backslash in a formula belongs to LaTeX.
_PRIORITY = 185


def mathml(formula: str, *, block: bool) -> str:
    """The formula as a `<math>` element.

    >>> mathml("p_1", block=False)
    '<math><msub><mi>p</mi><mn>1</mn></msub></math>'
    """
    return str(LatexToMathML().convert_with_local_state(formula.strip(), displaystyle=block))


class _Inline(InlineProcessor):
    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # noqa: N802
        stored = self.md.htmlStash.store(mathml(m[1], block=False))
        return stored, m.start(0), m.end(0)


class _Paragraph(BlockProcessor):
    def test(self, parent: Element, block: str) -> bool:
        return _PARAGRAPH.match(block.strip()) is not None

    def run(self, parent: Element, blocks: list[str]) -> None:
        match = _PARAGRAPH.match(blocks.pop(0).strip())
        assert match is not None
        formula = match[1] + (rf"\text{{{match[2]}}}" if match[2] else "")
        paragraph = SubElement(parent, "p", {"class": "formula"})
        paragraph.text = self.parser.md.htmlStash.store(mathml(formula, block=True))


class Formulas(Extension):
    """The extension for Python-Markdown."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Register both kinds of formula."""
        md.inlinePatterns.register(_Inline(_INLINE, md), "formula", _PRIORITY)
        md.parser.blockprocessors.register(_Paragraph(md.parser), "formula", _PRIORITY)


def makeExtension(**options: object) -> Formulas:  # noqa: N802
    """The entry point for Python-Markdown."""
    return Formulas(**options)
