"""What is claimed about a sample, and on what grounds.

Codes for programs, each with its words for people: of which kind an answer is, why, and what may
have changed since training.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
