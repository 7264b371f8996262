from .bias import BiasDisplay as BiasDisplay
from .diagonal import DiagonalDisplay as DiagonalDisplay
from .error_by_shift import ErrorByShiftDisplay as ErrorByShiftDisplay
from .interval import IntervalDisplay as IntervalDisplay
from .region import RegionDisplay as RegionDisplay
