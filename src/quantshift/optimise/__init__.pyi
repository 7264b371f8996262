from .quadratic import minimise_on_simplex as minimise_on_simplex
from .solvers import maximise_mixtures as maximise_mixtures
