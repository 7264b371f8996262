"""Quantification under dataset shift: quantifiers, protocols of shift, evaluation.

>>> from quantshift import SLD
>>> quantifier = SLD().fit([[0.0], [1.0], [2.0], [3.0]] * 5, ["no", "no", "yes", "yes"] * 5)
>>> quantifier.classes_.tolist()
['no', 'yes']
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "1.0.0"
