"""The chart library embedded in the page: Vega, Vega-Lite and Vega-Embed in one script.

`vl-convert-python` contains these libraries and bundles them offline (about 0.9 MB). Their licence
must be included in copies, so the script begins with it.
"""

import base64
import hashlib
from functools import cache
from importlib import resources


@cache
def chart_library() -> str:
    """JavaScript that defines `vegaEmbed`, safe inside a <script> element."""
    # Imported here because it is a large extension module that only pages need.
    import vl_convert

    notice = resources.files(__package__).joinpath("vega-licence.txt").read_text("utf-8")
    # A function keeps the names of the bundle out of the global scope.
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    script = f"(() => {{\n{bundle}\n}})();"
    return f"/*\n{notice}*/\n{script}".replace("</script", r"<\/script").replace("<!--", r"<\!--")


def script_hash(script: str) -> str:
    """The hash by which a content security policy allows this script and no other."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"
