from .builder import render_page as render_page
from .contents import Contents as Contents
from .contents import contents_of as contents_of
from .provenance import FailedCell as FailedCell
from .provenance import Provenance as Provenance
from .provenance import provenance_of as provenance_of
