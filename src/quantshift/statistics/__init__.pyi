from .multiple_tests import holm as holm
