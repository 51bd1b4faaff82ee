"""For tests of other projects: an equality that the judge proves, and a function that implements a layer."""

from derivations.testing.equality import Equality, assert_equal
from derivations.testing.implementation import assert_implements

__all__ = ["Equality", "assert_equal", "assert_implements"]
