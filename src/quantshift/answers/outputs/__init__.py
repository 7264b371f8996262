"""The files that an answer can be written to, beside what is printed: one module for each format.

A new format is one class in a module of its own, and one entry in `OUTPUTS`; every command that
gives an answer then has the option.
"""

from quantshift.answers.outputs.html import Html
from quantshift.answers.outputs.junit import JUnit
from quantshift.answers.outputs.markdown import Markdown
from quantshift.answers.outputs.output import AbstractOutput
from quantshift.answers.outputs.table import CsvTable

OUTPUTS: list[AbstractOutput] = [Html(), CsvTable(), Markdown(), JUnit()]
