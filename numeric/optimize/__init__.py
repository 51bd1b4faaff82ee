"""Passes from a layer to a faster layer; each cites the theorem that permits it, and is proved for your layer.

>>> from derivations.feed_forward import feed_forward
>>> from numeric.optimize import optimize
>>> optimize(feed_forward()).layer == feed_forward()
True
"""

from numeric.optimize.driver import PASSES, Optimised, optimize
from numeric.optimize.packing import packed
from numeric.optimize.rewrite import Rewrite

__all__ = ["PASSES", "Optimised", "Rewrite", "optimize", "packed"]
