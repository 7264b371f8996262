"""The pictures of the documentation: decisions, what causes what, kinds of shift and of answer.

    python -m website.pictures

Every picture has its own background or filled boxes, so that it is legible on light and dark pages.
The decision figure is narrow, so that its text is legible on a phone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from PIL import Image

from quantshift.lab.report.figures.canvas import save_figure
from quantshift.lab.report.illustrations import (
    concept_illustration,
    covariate_illustration,
    local_illustration,
    overlap_illustration,
    prior_illustration,
)
from website.pages import DOCS
from website.three_kinds import three_kinds

PICTURES = DOCS / "pictures"

ILLUSTRATIONS = {
    "prior": prior_illustration,
    "covariate": covariate_illustration,
    "local": local_illustration,
    "concept": concept_illustration,
    "overlap": overlap_illustration,
}

COLOURS = 64
"""Enough colours for the illustrations, at a quarter of the file size."""

WIDTH = 430
LEFT, RIGHT = (6, 206), (250, 174)
"""Offset and width of the two columns: what has changed, and what to do."""

INDENT = 22
LINE, PADDING, GAP = 19, 11, 13

QUESTION = ("#2f3e55", "#2f3e55", "#ffffff")
SITUATION = ("#eef1f6", "#b9c3d2", "#1d2633")
METHOD = ("#d5e8f6", "#4a90c2", "#0d2a40")
LABELS = ("#fdebc8", "#d08a00", "#402a00")
"""Fill, border and ink of the boxes."""

ARROW = "#8491a5"


@dataclass(frozen=True)
class Box:
    """Lines of text in a frame: the first ones plain or bold, the last one small, if any."""

    lines: tuple[str, ...]
    colours: tuple[str, str, str]
    small: str = ""
    bold: bool = False

    @property
    def height(self) -> int:
        """The height that the text needs."""
        n_lines = len(self.lines) + (1 if self.small else 0)
        return 2 * PADDING + LINE * n_lines - 4


@dataclass(frozen=True)
class Step:
    """A situation and what to do in it; steps that depend on an earlier one are indented."""

    situation: Box
    answer: Box
    depends: bool = False

    @property
    def height(self) -> int:
        """The height of the taller box."""
        return max(self.situation.height, self.answer.height)


def situation(*lines: str, small: str = "") -> Box:
    """A box of the left column."""
    return Box(lines, SITUATION, small)


def method(*lines: str, small: str = "") -> Box:
    """A quantifier or a test."""
    return Box(lines, METHOD, small, bold=True)


def labels(*lines: str, small: str = "") -> Box:
    """A box for situations in which no method helps without labels."""
    return Box(lines, LABELS, small, bold=True)


HEAD = Box(("What may have changed", "between training set and sample?"), QUESTION, bold=True)

STEPS = (
    Step(
        situation("Only how common", "the classes are", small="P(X | Y) stays"),
        method("SLD", small="DyS is close behind"),
    ),
    Step(
        situation("Only the mix of items,", "labels as before", small="P(Y | X) stays"),
        method("PCC", small="fails under prior shift"),
    ),
    Step(
        situation("Groups seen in training", "grew or shrank", small="P(X | Y, group) stays"),
        method("SubclassSLD", small="SLD is the next best"),
    ),
    Step(
        situation("What a label means", small="P(Y | X) changes"),
        labels("Label some items", small="valid under any shift"),
    ),
    Step(
        situation("Everything a little,", "or I do not know", small="regions, sites, years"),
        method("GuardedSLD", small="quantshift quantify"),
    ),
    Step(
        situation("the items agree", "with label shift"),
        method("SubclassSLD", small="it does this itself"),
        depends=True,
    ),
    Step(
        situation("they refute it"),
        method("PCC", small="report the range"),
        depends=True,
    ),
    Step(
        situation("the range is wide", small="more than 40 points"),
        labels("Label some items", small="as above"),
        depends=True,
    ),
)

DIRECTIONS_HEAD = Box(("What causes what?",), QUESTION, bold=True)

DIRECTIONS = (
    Step(
        situation("The label", small="opinion, fault, species"),
        method("what is seen", small="words, readings, looks"),
    ),
    Step(
        situation("What is known before", small="age, contract, pressure"),
        method("the label", small="churn, default, rain"),
    ),
)
"""Which distribution stays the same at another place or time depends on the causal direction."""

JUDGE_LABELS_HEAD = Box(("Which items have labels", "by people?"), QUESTION, bold=True)

JUDGE_LABELS = (
    Step(
        situation("None yet"),
        method("plan judge", small="says how many, which"),
    ),
    Step(
        situation("Random ones", small="best, if you can choose"),
        method("--labels random", small="assumes nothing"),
    ),
    Step(
        situation("A number of each verdict", small="50 passed, 50 failed"),
        method("--labels by-verdict", small="assumes nothing"),
    ),
    Step(
        situation("A number of each label", small="50 good, 50 bad"),
        method("--labels by-label", small="a wider interval"),
    ),
    Step(
        situation("Whole conversations", small="in any of these ways"),
        method("add --cluster", small="they say less"),
    ),
    Step(
        situation("Disputed ones, or those", "complained about"),
        method("--labels picked", small="a range"),
    ),
    Step(
        situation("you can label more"),
        labels("100 random items", small="plan judge --how random"),
        depends=True,
    ),
    Step(
        situation("Other items", small="an older evaluation set"),
        method("--labelled FILE", small="a range"),
    ),
    Step(
        situation("the judge errs", "as often here"),
        method("--assume rates", small="an interval"),
        depends=True,
    ),
    Step(
        situation("a verdict means", "the same here"),
        method("--assume verdicts", small="an interval"),
        depends=True,
    ),
    Step(
        situation("neither is known"),
        labels("100 random items", small="plan judge --how random"),
        depends=True,
    ),
)
"""What to tell `judge` about labels, and which ones to collect."""

DECISIONS = {
    "choose": (HEAD, STEPS),
    "directions": (DIRECTIONS_HEAD, DIRECTIONS),
    "judge-labels": (JUDGE_LABELS_HEAD, JUDGE_LABELS),
}


def main() -> None:
    """Write all pictures."""
    PICTURES.mkdir(exist_ok=True)
    for name, (head, steps) in DECISIONS.items():
        text = decision(head, steps)
        (PICTURES / f"{name}.svg").write_text(text, encoding="utf-8", newline="\n")
    (PICTURES / "three-kinds.svg").write_text(three_kinds(), encoding="utf-8", newline="\n")
    for name, draw in ILLUSTRATIONS.items():
        (path,) = save_figure(draw(), PICTURES, f"shift-{name}", formats=["png"])
        with Image.open(path) as picture:
            small = picture.convert("RGB").quantize(COLOURS)
        small.save(path, optimize=True)


def decision(head: Box, steps: Sequence[Step]) -> str:
    """The figure as SVG: a column of situations, each with an arrow to what to do."""
    left, left_width = LEFT
    right, right_width = RIGHT
    parts = [_box(head, left, 8, WIDTH - 2 * left, head.height)]
    y, parent = 8 + head.height + GAP, 0
    for step in steps:
        indent = INDENT if step.depends else 0
        middle = y + step.height / 2
        if step.depends:
            # From the answer of the step it depends on: down and to the left.
            x = left + INDENT / 2
            parts.append(_path(f"M{x} {parent} V{middle} H{left + indent}"))
        else:
            parent = y + step.height
        parts.append(
            _box(step.situation, left + indent, y, left_width - indent, step.height),
        )
        parts.append(_path(f"M{left + left_width} {middle} H{right - 2}", arrow=True))
        parts.append(_box(step.answer, right, y, right_width, step.height))
        y += step.height + GAP
    height = y - GAP + 8
    description = "; ".join(
        f"{' '.join(s.situation.lines)}: {' '.join(s.answer.lines)}" for s in steps
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img" '
            'font-family="system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif" '
            'font-size="15">',
            f"<title>{escape(' '.join(head.lines))}</title>",
            f"<desc>{escape(description)}</desc>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="{ARROW}"/></marker>'
            "</defs>",
            *parts,
            "</svg>",
            "",
        ]
    )


def _box(box: Box, x: float, y: float, width: float, height: float) -> str:
    fill, border, ink = box.colours
    lines = [*((line, False) for line in box.lines), *([(box.small, True)] if box.small else [])]
    top = y + (height - LINE * len(lines)) / 2 + 14
    weight = ' font-weight="600"' if box.bold else ""
    texts = [
        f'<text x="{x + width / 2}" y="{top + LINE * i}" text-anchor="middle" fill="{ink}"'
        + (' font-size="13" opacity="0.85">' if small else f"{weight}>")
        + f"{escape(line)}</text>"
        for i, (line, small) in enumerate(lines)
    ]
    frame = (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="{fill}" '
        f'stroke="{border}" stroke-width="1.2"/>'
    )
    return "\n".join([frame, *texts])


def _path(points: str, *, arrow: bool = False) -> str:
    tip = ' marker-end="url(#tip)"' if arrow else ""
    return f'<path d="{points}" fill="none" stroke="{ARROW}" stroke-width="1.8"{tip}/>'


if __name__ == "__main__":
    main()
