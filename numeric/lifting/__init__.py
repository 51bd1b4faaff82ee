"""Lifting: functions over arrays become layers, and the judge decides what they compute.

>>> from derivations.symbols import d, n
>>> from numeric.lifting import lift
>>> def centred(x):
...     return x - x.mean(axis=-1, keepdims=True)
>>> print(lift(centred, x=(n, d)))
Centred (centred)
    y = x - rowmean(x) 1^T
Where x in R^{n x d}, rowmean(x)_i = (1 / d) sum_{j=1}^d x_ij.
"""

from numeric.lifting.lift import Lifted, lift
from numeric.lifting.proving import Verdict, by_tests, checked_lift, prove, prove_same
from numeric.lifting.recognition import Counted, count_lifted, recognise
from numeric.lifting.refusals import NotFollowed

__all__ = [
    "Counted",
    "Lifted",
    "NotFollowed",
    "Verdict",
    "by_tests",
    "checked_lift",
    "count_lifted",
    "lift",
    "prove",
    "prove_same",
    "recognise",
]
