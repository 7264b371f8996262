"""The notebooks: run as a reader would, with their outputs kept, and shown as pages of the site.

A notebook is JSON and its code cells are plain Python, so that neither running nor reading it
needs Jupyter. The cells of a notebook share a namespace, and a folder that is empty at first. The
outputs of a cell are what it prints and its last expression: a figure as a picture, anything else
as Jupyter would show it.

    python -m website.notebooks    run all notebooks, write their outputs and their pages
"""

import ast
import base64
import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from website.examples import ExampleError, in_folder
from website.pages import DOCS, name_of

NOTEBOOKS = DOCS / "notebooks"
MADE = "<!-- Made from the notebook by `python -m website.notebooks`. -->"
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_DPI = 100


def notebooks() -> list[Path]:
    """The notebooks of the documentation."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def read(notebook: Path) -> dict[str, Any]:
    """The notebook as JSON."""
    content: dict[str, Any] = json.loads(notebook.read_text(encoding="utf-8"))
    return content


def run(notebook: Path, folder: Path) -> dict[str, Any]:
    """The notebook with the outputs of its cells; raises `ExampleError` at the first that fails."""
    content = read(notebook)
    names: dict[str, Any] = {"__name__": "__main__"}
    codes = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    with in_folder(folder):
        for number, cell in enumerate(codes, 1):
            where = f"{name_of(notebook)}, cell {number}"
            outputs = list(_outputs(source(cell), names, where))
            cell |= {"execution_count": number, "outputs": outputs}
    return content | {"metadata": _METADATA, "nbformat": 4, "nbformat_minor": 5}


def page_of(notebook: Path) -> Path:
    """The page that shows a notebook on the site."""
    return notebook.with_suffix(".md")


def page(notebook: Path) -> str:
    """The notebook with its outputs as Markdown; its figures are files beside it."""
    files = iter(figures(notebook))
    parts: list[str] = []
    for cell in read(notebook)["cells"]:
        text = source(cell)
        parts.append(f"```python\n{text}\n```" if cell["cell_type"] == "code" else text)
        for output in cell.get("outputs", []):
            if printed := texts(output):
                parts.append(f"```text\n{printed.rstrip()}\n```")
            else:
                # Figures are described in the metadata of their cell.
                parts.append(f"![{cell['metadata']['alt']}]({next(files)})")
    title, *rest = parts
    where = f"[Download the notebook]({notebook.name}) and run it in an empty folder, or read on."
    return "\n\n".join([title, MADE, where, *rest]) + "\n"


def figures(notebook: Path) -> Mapping[str, bytes]:
    """The figures of a notebook by the names of their files."""
    pictures = [
        base64.b64decode(output["data"]["image/png"])
        for cell in read(notebook)["cells"]
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    return {f"{notebook.stem}-{number}.png": figure for number, figure in enumerate(pictures, 1)}


def source(cell: Mapping[str, Any]) -> str:
    """The text of a cell."""
    return "".join(cell["source"])


def texts(output: Mapping[str, Any]) -> str:
    """What an output shows as text; nothing for a figure."""
    return "".join(output.get("text", output.get("data", {}).get("text/plain", "")))


def write(notebook: Path, content: Mapping[str, Any]) -> None:
    """Write a notebook as Jupyter does."""
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
    notebook.write_text(text + "\n", encoding="utf-8", newline="\n")


def _outputs(code: str, names: dict[str, Any], where: str) -> Iterator[dict[str, Any]]:
    tree = ast.parse(code, where)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, where, "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), where, "eval"), names)
    except Exception as error:
        raise ExampleError(f"{where}: {type(error).__name__}: {error}") from error
    if text := printed.getvalue():
        yield {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}
    if isinstance(value, Figure):
        data = {"image/png": base64.b64encode(_drawn(value)).decode()}
        yield {"data": data, "metadata": {}, "output_type": "display_data"}
    elif value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        yield {"data": data, "metadata": {}, "output_type": "display_data"}


def _drawn(figure: Figure) -> bytes:
    picture = io.BytesIO()
    # Without the version of matplotlib, so that the same figure is the same file.
    figure.savefig(picture, format="png", dpi=_DPI, metadata={"Software": None})
    return picture.getvalue()


def main() -> int:
    """Run the notebooks and write outputs, pages and figures."""
    for notebook in notebooks():
        with tempfile.TemporaryDirectory() as folder:
            try:
                content = run(notebook, Path(folder).resolve())
            except ExampleError as error:
                print(error)
                return 1
        write(notebook, content)
        page_of(notebook).write_text(page(notebook), encoding="utf-8", newline="\n")
        for name, figure in figures(notebook).items():
            (NOTEBOOKS / name).write_bytes(figure)
        print(f"{name_of(notebook)}: outputs and page written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
