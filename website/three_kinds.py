"""The picture of the three kinds of answer: one sample, and what is known about it.

`website.pictures` writes it. Its figures are those that `docs/guides/is-it-true.md` shows, which a
test compares. It has a background of its own, so that it is legible on light and dark pages, and is
narrow, so that its text is legible on a phone.
"""

from dataclasses import dataclass
from html import escape

WIDTH, MARGIN = 460, 18
HEAD, ROW, FOOT = 76, 78, 58
CARD, INK, FAINT, GRID = "#fbfbfd", "#22252b", "#5b6472", "#d9dee6"
INTERVAL, RANGE, UNKNOWN = "#0b7a75", "#b06a00", "#a33a2f"


@dataclass(frozen=True)
class Answer:
    """What is known, the kind of answer that follows, and its limits in percent."""

    known: str
    kind: str
    low: float
    high: float

    @property
    def limits(self) -> str:
        """The limits as the command prints them."""
        return f"{self.low:.1f} to {self.high:.1f}%"

    @property
    def colour(self) -> str:
        """The colour of the kind."""
        kinds = {
            "confidence interval": INTERVAL,
            "interval, if that is right": RANGE,
            "range": RANGE,
            "cannot be estimated": UNKNOWN,
        }
        return kinds[self.kind]


TITLE = "The same 696 customers: how many left?"
TRUE_SHARE = 41.8
ANSWERS = (
    Answer("nothing more is known", "cannot be estimated", 13.4, 60.1),
    Answer("six sites to learn from", "range", 29.5, 50.9),
    Answer("if the columns are causes", "interval, if that is right", 36.7, 44.0),
    Answer("50 random labels", "confidence interval", 34.1, 60.1),
)


def three_kinds() -> str:
    """The picture as SVG: a bar for each answer on a scale from 0 to 100%."""
    bottom = HEAD + ROW * len(ANSWERS)
    height = bottom + FOOT
    description = "; ".join(f"{a.known}: {a.kind}, {a.limits}" for a in ANSWERS)
    parts = [
        f'<rect width="{WIDTH}" height="{height}" rx="10" fill="{CARD}" stroke="{GRID}"/>',
        _text(MARGIN, 32, TITLE, INK, 'font-weight="600" font-size="17"'),
        _text(MARGIN, 54, f"{TRUE_SHARE}% did, which only we know (the black marks)", FAINT),
    ]
    for number, answer in enumerate(ANSWERS):
        parts += _row(answer, HEAD + ROW * number)
    for share in (0, 25, 50, 75, 100):
        anchor = {0: "start", 100: "end"}.get(share, "middle")
        parts.append(_text(_x(share), bottom + 14, f"{share}%", FAINT, f'text-anchor="{anchor}"'))
    parts.append(_text(MARGIN, bottom + 42, "solid: an interval; dashed: no 95% promised", FAINT))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img" '
            'font-family="system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif" '
            'font-size="14">',
            f"<title>{escape(TITLE)}</title>",
            f"<desc>{escape(description)}</desc>",
            *parts,
            "</svg>",
            "",
        ]
    )


def _row(answer: Answer, top: float) -> list[str]:
    low, high = _x(answer.low), _x(answer.high)
    dashes = "" if "interval" in answer.kind else ' stroke-dasharray="7 5"'
    middle = top + 52
    return [
        _text(MARGIN, top + 16, answer.known, INK, 'font-weight="600"'),
        _text(MARGIN, top + 35, answer.kind, answer.colour),
        _text(WIDTH - MARGIN, top + 35, answer.limits, answer.colour, 'text-anchor="end"'),
        f'<path d="M{_x(0)} {middle} H{_x(100)}" stroke="{GRID}" stroke-width="2" fill="none"/>',
        f'<path d="M{low} {middle} H{high}" stroke="{answer.colour}" stroke-width="9" '
        f'fill="none"{dashes}/>',
        f'<path d="M{_x(TRUE_SHARE)} {middle - 10} v20" stroke="{INK}" stroke-width="2.5" '
        'fill="none"/>',
    ]


def _x(share: float) -> float:
    """The position of a share in percent."""
    return round(MARGIN + (WIDTH - 2 * MARGIN) * share / 100, 1)


def _text(x: float, y: float, words: str, colour: str, more: str = "") -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}" {more}>{escape(words)}</text>'.replace(" >", ">")
