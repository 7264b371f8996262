"""How the documentation is made and checked: `make docs`, `make docs-refresh` and the tests.

Contents of the pages:

json_schemas  the schemas of everything that is printed as JSON
blocks      marked blocks, written from the registries and schemas (commands, schema, tables)
measured    tables of measured figures, from a run to CSV files to Markdown
examples    the code blocks: runs them, and compares or fills in the outputs shown
notebooks   the notebooks: runs them, keeps their outputs, writes their pages
overview    the picture of the errors of methods
pictures    the decision figure and the illustrations
three_kinds the picture of the three kinds of answer
screenshot  the page that the tutorial makes

Building the site:

build       builds the site in `site/`, or reports what is wrong
docstrings  docstrings as Markdown, for mkdocstrings
formulas    formulas to MathML, for Python-Markdown
reference   checks the API pages against the public names
links       checks the links of the built site

For distributions:

versions        the documentation of several versions side by side
package_readme  the README without relative links, for a package index
"""
