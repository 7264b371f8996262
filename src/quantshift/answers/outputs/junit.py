"""The conditions of an answer as a JUnit report, which every CI system shows."""

from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from quantshift.answers.answer import AbstractAnswer
from quantshift.answers.conditions import failures_of
from quantshift.answers.outputs.output import AbstractOutput, Circumstances

MARK = "quantshift"
"""The name of the suite, by which a file is recognised as ours."""


class JUnit(AbstractOutput):
    """A test case for each condition, and one for whether every batch can be estimated."""

    name = "junit"
    noun = "report"
    endings = ("xml",)
    help = "Also write the conditions as a JUnit report, for CI."

    def render(self, answer: AbstractAnswer, circumstances: Circumstances) -> str:
        """The report; the text of the answer is its output."""
        cases = [("every batch can be estimated", _unknown(answer))]
        for condition in circumstances.conditions:
            cases.append((f"not {condition.text}", failures_of([condition], answer)))
        failed = sum(bool(failures) for _, failures in cases)
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuite name="{MARK}" tests="{len(cases)}" failures="{failed}" errors="0">',
        ]
        for name, failures in cases:
            opening = f"  <testcase classname={quoteattr(MARK)} name={quoteattr(_plain(name))}"
            if not failures:
                lines.append(f"{opening}/>")
                continue
            message = quoteattr(_plain("; ".join(failures)))
            lines += [f"{opening}>", f"    <failure message={message}/>", "  </testcase>"]
        lines += [f"  <system-out>{escape(_plain(answer.to_text()))}</system-out>", "</testsuite>"]
        return "\n".join(lines) + "\n"

    def is_ours(self, path: Path) -> bool:
        """Whether the file is a suite of our name."""
        with path.open(encoding="utf-8", errors="replace") as file:
            return f'<testsuite name="{MARK}"' in file.read(1000)


def _unknown(answer: AbstractAnswer) -> list[str]:
    """The batches that cannot be estimated."""
    names = (str(row["batch"]) for row in answer.records() if not row["can_be_estimated"])
    return [f"{name}: cannot be estimated" for name in dict.fromkeys(names)]


def _plain(text: str) -> str:
    """Text without the control characters that XML does not allow."""
    return "".join(sign for sign in text if sign in "\n\t" or ord(sign) >= 32)
