"""The conditions of an answer as a JUnit report, which every CI system shows."""

from pathlib import Path

from quantshift.answers.conditions import failures_of, open_in
from quantshift.answers.outputs.output import AbstractOutput, Circumstances
from quantshift.answers.show.answer import AbstractAnswer

MARK = "quantshift"
"""The name of the suite, by which a file is recognised as ours."""


class JUnit(AbstractOutput):
    """A test case for each condition, and one for whether every batch can be estimated.

    A case of which it cannot be told whether the condition holds is skipped: it has not passed.
    """

    name = "junit"
    noun = "report"
    endings = ("xml",)
    help = "Also write the conditions as a JUnit report, for CI."

    def render(self, answer: AbstractAnswer, circumstances: Circumstances) -> str:
        """The report; the text of the answer is its output."""
        # Imported here because it imports everything for HTTP.
        from xml.sax.saxutils import escape, quoteattr

        cases: list[tuple[str, list[str], list[str]]]
        cases = [("every batch can be estimated", _unknown(answer), [])]
        for condition in circumstances.conditions:
            failures = failures_of([condition], answer)
            undecided = [] if failures else open_in([condition], answer)
            cases.append((f"not {condition.text}", failures, undecided))
        failed, skipped = (sum(bool(case[i]) for case in cases) for i in (1, 2))
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuite name="{MARK}" tests="{len(cases)}" failures="{failed}" '
            f'skipped="{skipped}" errors="0">',
        ]
        for name, failures, undecided in cases:
            opening = f"  <testcase classname={quoteattr(MARK)} name={quoteattr(_plain(name))}"
            if not failures and not undecided:
                lines.append(f"{opening}/>")
                continue
            outcome = "failure" if failures else "skipped"
            message = quoteattr(_plain("; ".join(failures or undecided)))
            lines += [f"{opening}>", f"    <{outcome} message={message}/>", "  </testcase>"]
        lines += [
            f"  <system-out>{escape(_plain(answer.to_text(details=True)))}</system-out>",
            "</testsuite>",
        ]
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
