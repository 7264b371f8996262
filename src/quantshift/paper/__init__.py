"""What the paper claims and prints, and how results compare with it.

"Binary Quantification and Dataset Shift: An Experimental Investigation", by Gonzalez, Moreo and
Sebastiani. Frames in, frames and verdicts out; nothing here knows how they are shown.
"""

from quantshift.paper.findings import Claim, Verdict, verdicts
from quantshift.paper.published import against_published, published_tables
from quantshift.paper.setups import setups_of

__all__ = [
    "Claim",
    "Verdict",
    "against_published",
    "published_tables",
    "setups_of",
    "verdicts",
]
