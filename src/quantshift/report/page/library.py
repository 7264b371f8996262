"""The chart library that goes into the page: Vega, Vega-Lite and Vega-Embed in one script.

`vl-convert-python` carries these libraries and bundles them without a network, about 0.9 MB. Their
licence asks for its text in copies, so the script begins with it.
"""

import base64
import hashlib
from functools import cache
from importlib import resources


@cache
def chart_library() -> str:
    """JavaScript that defines `vegaEmbed`, fit for a <script> element."""
    # A large extension module, which only the page needs.
    import vl_convert

    notice = resources.files(__package__).joinpath("vega-licence.txt").read_text("utf-8")
    # The bundle's own names stay inside a function of their own.
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    script = f"(() => {{\n{bundle}\n}})();"
    return f"/*\n{notice}*/\n{script}".replace("</script", r"<\/script").replace("<!--", r"<\!--")


def content_hash(script: str) -> str:
    """The script as a page's content security policy names it, so that no other one runs."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"
