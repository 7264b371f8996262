"""How the documentation is made and checked: `make docs`, `make docs-refresh` and the tests.

What stands in the pages:

blocks      marked blocks, written from the registries and schemas (commands, schema, tables)
measured    tables of measured figures, from a run to CSV files to Markdown
examples    the code blocks, run; their shown outputs compared or filled in
overview    the picture of the README
pictures    the decision figure and the illustrations
screenshot  the page that the tutorial makes

What makes a site of them:

build       all of it: the site in `site/`, or what is wrong
docstrings  docstrings as Markdown, for mkdocstrings
formulas    formulas to MathML, for Python-Markdown
reference   the pages of the API against the public names
links       the links of the built site

For distributions:

package_readme  the README without relative links, for a package index
"""
