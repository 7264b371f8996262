"""An answer as one self-contained web page."""

from pathlib import Path

from quantshift.answers.outputs.output import AbstractOutput, Circumstances
from quantshift.answers.show.answer import AbstractAnswer
from quantshift.base.storage.files import PAGE_ENDINGS, is_page


class Html(AbstractOutput):
    """A page for any browser, which needs no network."""

    name = "html"
    noun = "page"
    endings = PAGE_ENDINGS
    help = "Also write a page with charts."

    def render(self, answer: AbstractAnswer, circumstances: Circumstances) -> str:
        """The page, with the thresholds of the conditions and where the numbers come from."""
        return answer.page(conditions=circumstances.conditions, provenance=circumstances.provenance)

    def is_ours(self, path: Path) -> bool:
        """Whether the file has the mark of our pages."""
        return is_page(path)
