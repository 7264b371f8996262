from .preparation import TableColumns as TableColumns, TableView as TableView
from .reading import (
    OpenTable as OpenTable,
    Source as Source,
    open_table as open_table,
    read_frame as read_frame,
)
