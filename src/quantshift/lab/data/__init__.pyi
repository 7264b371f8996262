from .sets.dataset import Dataset as Dataset
from .description import (
    describe as describe,
    find as find,
    find_embedded as find_embedded,
    find_packaged as find_packaged,
    render as render,
    render_list as render_list,
)
from .embedded.embedded import (
    EMBEDDED as EMBEDDED,
    EmbeddedSet as EmbeddedSet,
    embedded_set as embedded_set,
)
from .embedded.examples import write_examples as write_examples
from .embedded.mixed_columns import (
    MixedTable as MixedTable,
    mixed_posteriors as mixed_posteriors,
    mixed_table as mixed_table,
)
from .embedded.synthetic import (
    SyntheticCorpus as SyntheticCorpus,
    SyntheticModel as SyntheticModel,
    generate as generate,
    write_synthetic as write_synthetic,
)
from .fetching import (
    Fetched as Fetched,
    PublicRecord as PublicRecord,
    RECORDS as RECORDS,
    fetch_record as fetch_record,
)
from .sets.folder import DataFolder as DataFolder
from .importing.arrays import DataFile as DataFile, read_matrix as read_matrix
from .importing.options import ImportOptions as ImportOptions
from .importing.lequa import import_lequa as import_lequa
from .importing.review_folder import ReviewsWriter as ReviewsWriter, new_reviews as new_reviews
from .importing.reviews import ReviewFile as ReviewFile, import_reviews as import_reviews
from .importing.table import import_arrays as import_arrays, import_table as import_table
from .packaged.label_tables import (
    LABEL_TABLES as LABEL_TABLES,
    PackagedLabels as PackagedLabels,
    packaged_labels as packaged_labels,
)
from .packaged.packaged import (
    PACKAGED as PACKAGED,
    PackagedSet as PackagedSet,
    packaged_set as packaged_set,
)
from .several_labels.generated_items import (
    GeneratedItems as GeneratedItems,
    generate_labelled_items as generate_labelled_items,
)
from .several_labels.label_data import LabelData as LabelData
from .several_labels.label_importing import import_labelled_items as import_labelled_items
from .several_labels.mulan import LabelledItems as LabelledItems, load_mulan as load_mulan
from .several_labels.packaged_items import (
    PackagedItems as PackagedItems,
    load_packaged_items as load_packaged_items,
)
from .sources import (
    AbstractSource as AbstractSource,
    EmbeddedSource as EmbeddedSource,
    FileSource as FileSource,
    FolderSource as FolderSource,
    PackagedSource as PackagedSource,
    SyntheticSource as SyntheticSource,
    open_source as open_source,
    source_at as source_at,
)
