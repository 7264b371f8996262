"""Small .xlsx workbooks, written without a library."""

import zipfile
from pathlib import Path

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def workbook(path, rows=(), *, hidden=(), **sheets):
    """A workbook of strings, numbers and truth values.

    rows: of a single sheet called "a"; or the rows of each of the sheets, by name. A sheet may
    also be given as the XML of its rows. hidden: names of sheets that are hidden.
    """
    sheets = sheets or {"a": rows}
    numbered = list(enumerate(sheets.items(), start=1))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{i}.xml" '
            f'ContentType="{TYPES}.worksheet+xml"/>'
            for i, _ in numbered
        )
        file.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName='
            f'"/xl/workbook.xml" ContentType="{TYPES}.sheet.main+xml"/>{parts}</Types>',
        )
        file.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
            f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        listed = "".join(
            f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"'
            f' state="{"hidden" if name in hidden else "visible"}"/>'
            for i, (name, _) in numbered
        )
        file.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>',
        )
        targets = "".join(
            f'<Relationship Id="r{i}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{i}.xml"/>'
            for i, _ in numbered
        )
        file.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{PACKAGE}/relationships">{targets}</Relationships>',
        )
        for i, (_, content) in numbered:
            inside = content if isinstance(content, str) else _rows(content)
            file.writestr(
                f"xl/worksheets/sheet{i}.xml",
                f'<worksheet xmlns="{MAIN}"><sheetData>{inside}</sheetData></worksheet>',
            )
    return Path(path)


def _rows(rows):
    return "".join("<row>" + "".join(map(_cell, row)) + "</row>" for row in rows)


def _cell(value):
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t xml:space="preserve">{value}</t></is></c>'
    return f"<c><v>{value}</v></c>"
