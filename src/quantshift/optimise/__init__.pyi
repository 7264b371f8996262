from .mixture_likelihood import maximise_mixtures as maximise_mixtures
from .quadratic import minimise_on_simplex as minimise_on_simplex
