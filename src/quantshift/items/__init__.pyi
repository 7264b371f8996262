from .estimate import Estimate as Estimate
from .items import Items as Items
from .samples import Samples as Samples
