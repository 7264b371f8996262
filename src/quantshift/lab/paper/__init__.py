"""The paper's claims and published numbers, and how results compare with them.

"Binary Quantification and Dataset Shift: An Experimental Investigation", by Gonzalez, Moreo and
Sebastiani. These functions turn frames into frames and verdicts; `quantshift.lab.report` renders
them.
"""

from quantshift.lab.paper.findings import Claim, Verdict, verdicts
from quantshift.lab.paper.published import against_published, published_tables
from quantshift.lab.paper.setups import setups_of

__all__ = [
    "Claim",
    "Verdict",
    "against_published",
    "published_tables",
    "setups_of",
    "verdicts",
]
