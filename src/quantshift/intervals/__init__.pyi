from .prediction import (
    PrevalenceInterval as PrevalenceInterval,
)
from .regions import Region as Region, region_of as region_of
