"""The frame of every self-contained page: head, contents, masthead, scripts, security policy.

Names that come from data are escaped by the template or, in the data, by `embedded_json`; a content
security policy allows only the scripts of the page.
"""

import json
from collections.abc import Mapping, Sequence
from enum import Enum
from importlib import resources
from typing import Any
from urllib.parse import quote

import jinja2

from quantshift import __version__
from quantshift.answers.shell.library import chart_library, script_hash

SHELL = __package__


class Charts(Enum):
    """Whose code draws the charts of a page.

    SHARED: charts.js has what charts of shares have in common. OWN: page.js draws them alone.
    """

    SHARED = "shared"
    OWN = "own"
    NONE = "none"


def render_shell(
    package: str,
    *,
    title: str,
    lead: str,
    numbers: Sequence[tuple[str, str]],
    facts: Sequence[tuple[str, str]],
    data: Mapping[str, Any],
    look_of: Sequence[str] = (),
    charts: Charts = Charts.SHARED,
    **content: Any,
) -> str:
    """Render the templates of a package: page.html in the shell, with page.css and page.js.

    numbers: those at the top, and facts: those under "Provenance", each with its name. look_of:
    other packages whose style is included. Each of these packages may have a page.css. charts:
    whose code draws charts; if there are none, the page is without the chart library.
    """
    template_packages = dict.fromkeys([package, SHELL])
    style_packages = dict.fromkeys([SHELL, *look_of, package])
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in template_packages]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    library = "" if charts is Charts.NONE else chart_library()
    shared = ("theme.js", *(["charts.js"] if charts is Charts.SHARED else []))
    script = "".join([*(_asset(SHELL, name) for name in shared), _asset(package, "page.js")])
    return environment.get_template("page.html").render(
        title=title,
        lead=lead,
        numbers=numbers,
        facts=facts,
        version=__version__,
        favicon=f"data:image/svg+xml,{quote(_asset(SHELL, 'favicon.svg').strip())}",
        css="".join(_asset(name, "page.css") for name in style_packages if _has_style(name)),
        data=embedded_json(data),
        library=library,
        script=script,
        script_hashes=" ".join(script_hash(text) for text in (library, script) if text),
        **content,
    )


def embedded_json(data: object) -> str:
    """JSON that cannot break out of its <script> element, whatever names it contains.

    >>> embedded_json("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _has_style(package: str) -> bool:
    return resources.files(package).joinpath("templates", "page.css").is_file()


def _asset(package: str, name: str) -> str:
    return resources.files(package).joinpath("templates", name).read_text("utf-8")
