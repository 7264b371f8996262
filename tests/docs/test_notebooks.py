"""The notebooks run, their outputs are real, and their pages and figures are made from them."""

import base64
import io
import re

import pytest
from PIL import Image

from website import notebooks
from website.examples import ExampleError
from website.pages import ROOT, name_of

NOTEBOOKS = notebooks.notebooks()


def without_figures(notebook):
    """The texts of a notebook; figures differ a little between versions of matplotlib."""
    return [
        [notebooks.texts(output) for output in cell.get("outputs", [])]
        for cell in notebook["cells"]
    ]


def test_each_door_of_the_readme_has_one():
    stems = [notebook.stem for notebook in NOTEBOOKS]
    assert stems == ["judge", "last-year", "moderation", "researcher"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for notebook in NOTEBOOKS:
        assert f"({name_of(notebook)})" in readme


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_shows_what_comes_out(notebook, tmp_path):
    shown, real = notebooks.read(notebook), notebooks.run(notebook, tmp_path)
    assert without_figures(shown) == without_figures(real), "run `make docs-refresh`"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_page_and_figures_are_those_of_the_notebook(notebook):
    page = notebooks.page_of(notebook).read_text(encoding="utf-8")
    assert page == notebooks.page(notebook), "run `make docs-refresh`"
    for name, figure in notebooks.figures(notebook).items():
        assert (notebook.parent / name).read_bytes() == figure
        assert f"]({name})" in page
        with Image.open(io.BytesIO(figure)) as picture:
            assert picture.width > 300


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_is_one_that_jupyter_opens(notebook):
    """The fields that the format 4.5 requires, with ids that are different."""
    content = notebooks.read(notebook)
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in content["cells"]]
    assert len({*ids}) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in ids)
    for cell in content["cells"]:
        code = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert {*cell} == {"cell_type", "id", "metadata", "source"} | code
        assert cell["cell_type"] in ("code", "markdown")


@pytest.fixture
def cell(tmp_path, monkeypatch):
    """Runs a notebook of one cell and returns its outputs."""
    monkeypatch.setattr(notebooks, "name_of", lambda path: path.name)

    def run(code):
        path = tmp_path / "small.ipynb"
        content = {"cell_type": "code", "id": "a", "metadata": {}, "source": [code]}
        notebooks.write(path, {"cells": [content]})
        (done,) = notebooks.run(path, tmp_path)["cells"]
        return done["outputs"]

    return run


def test_printed_text_comes_before_the_last_expression(cell):
    printed, value = cell("print('one')\n1 + 1")
    assert printed == {"name": "stdout", "output_type": "stream", "text": ["one\n"]}
    assert value["data"] == {"text/plain": ["2"]}
    assert cell("x = None\nx") == []


def test_a_figure_is_a_picture(cell):
    (output,) = cell("from matplotlib.figure import Figure\nFigure(figsize=(2, 1))")
    with Image.open(io.BytesIO(base64.b64decode(output["data"]["image/png"]))) as picture:
        assert picture.size == (200, 100)


def test_a_failing_cell_is_named(cell):
    with pytest.raises(ExampleError, match=r"small\.ipynb, cell 1: ZeroDivisionError"):
        cell("1 / 0")
