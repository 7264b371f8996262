from .arrays import DataFile as DataFile, read_matrix as read_matrix
from .assembly import Wishes as Wishes
from .dataset import Dataset as Dataset
from .description import (
    describe as describe,
    find as find,
    find_embedded as find_embedded,
    render as render,
    render_list as render_list,
)
from .embedded import EMBEDDED as EMBEDDED, EmbeddedSet as EmbeddedSet, embedded_set as embedded_set
from .fetching import (
    RECORDS as RECORDS,
    Fetched as Fetched,
    PublicRecord as PublicRecord,
    fetch_record as fetch_record,
)
from .folder import DataFolder as DataFolder
from .importing import import_arrays as import_arrays, import_table as import_table
from .lequa import import_lequa as import_lequa
from .mixed_columns import (
    MixedTable as MixedTable,
    mixed_posteriors as mixed_posteriors,
    mixed_table as mixed_table,
)
from .preparation import TableColumns as TableColumns, TableView as TableView
from .sources import (
    AbstractSource as AbstractSource,
    CorpusSource as CorpusSource,
    EmbeddedSource as EmbeddedSource,
    FileSource as FileSource,
    FolderSource as FolderSource,
    SyntheticSource as SyntheticSource,
    open_source as open_source,
    source_at as source_at,
)
