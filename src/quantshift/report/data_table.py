"""The table of the data: how many reviews each category has, and its shares of stars."""

from quantshift.corpora.describe import Description
from quantshift.report.table import Cell, ColumnGroup, ReportTable, Row
from quantshift.report.tables import decimal


def data_table(description: Description) -> ReportTable:
    """Instances, with and without those of three stars, and star shares per category."""
    rows = tuple(
        Row(
            label=category.name,
            value=category.name,
            cells=(
                Cell(f"{category.n_documents:,}", category.n_documents),
                Cell(f"{category.n_without_middle:,}", category.n_without_middle),
                *(Cell(decimal(share), share) for share in category.star_shares),
            ),
        )
        for category in description.categories
    )
    stars = ("1 star", *(f"{n} stars" for n in range(2, 6)))
    return ReportTable(
        name="data",
        caption=f"The reviews of corpus {description.hash[:12]} and the shares of their stars.",
        corner="category",
        groups=(ColumnGroup("", ("instances", "without 3 stars", *stars)),),
        rows=rows,
        legend=("Shares are over all five stars.",),
    )
