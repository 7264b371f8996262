from quantshift.base.text_tables import Table, latex_escape, latex_table, markdown_table, text_table

TABLE = Table("Sizes", ("", "n"), (("a|b", "1"), ("c_d", "20")))


def test_text():
    assert text_table(TABLE) == "Sizes\n      n\na|b   1\nc_d  20"


def test_markdown_escapes_bars():
    assert markdown_table(TABLE).splitlines() == [
        "**Sizes**",
        "",
        "|  | n |",
        "| --- | ---: |",
        "| a\\|b | 1 |",
        "| c_d | 20 |",
    ]


def test_latex_escapes_special_characters():
    assert r"c\_d & 20 \\" in latex_table(TABLE).splitlines()
    assert latex_escape(r"50% & {a}^~\$#") == (
        r"50\% \& \{a\}\textasciicircum{}\textasciitilde{}\textbackslash{}\$\#"
    )
