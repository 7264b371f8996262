from .files.chunks import OpenTable as OpenTable
from .formats import register_format as register_format, withdraw_format as withdraw_format
from .formats.frames import frame_table as frame_table
from .formats.table_format import TableFile as TableFile, TableFormat as TableFormat
from .preparation import TableColumns as TableColumns, TableView as TableView
from .reading import Source as Source, open_table as open_table, read_frame as read_frame
