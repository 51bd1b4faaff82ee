"""The code of an optimised layer as a text that runs without this package."""

from numeric.optimize.standalone.module import optimised_source

__all__ = ["optimised_source"]
