"""The frame of all pages: their data cannot leave their element, and the site has their icon."""

import json
import re
from importlib import resources
from pathlib import Path

import jinja2
import pytest

from quantshift.answers.shell import shell
from quantshift.answers.shell.shell import Charts, embedded_json


@pytest.mark.parametrize("name", ["</script>", "<!--", "\u2028", "&lt;", '"', "\\", "é"])
def test_embedded_json_reads_back_and_has_no_markup(name):
    text = embedded_json({name: name})
    assert json.loads(text) == {name: name}
    assert not re.search("[<>&\u2028]", text)


def test_the_site_has_the_icon_of_the_pages():
    icon = resources.files("quantshift.answers.shell").joinpath("templates", "favicon.svg")
    site = Path(__file__).parents[3] / "docs" / "assets" / "favicon.svg"
    assert site.read_text() == icon.read_text()


@pytest.mark.parametrize(("charts", "n_loaded"), [(Charts.NONE, 0), (Charts.OWN, 1)])
def test_a_page_without_charts_is_without_their_library(monkeypatch, charts, n_loaded):
    loaded = []
    monkeypatch.setattr(shell, "chart_library", lambda: loaded.append(1) or "")
    plain = {"title": "T", "lead": "L", "numbers": [], "facts": [], "data": {}}
    # The page itself needs an answer, which is not given.
    with pytest.raises(jinja2.UndefinedError):
        shell.render_shell("quantshift.answers.targets", **plain, charts=charts)
    assert len(loaded) == n_loaded
