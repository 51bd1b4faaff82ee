"""For tests of other projects: an equality that the judge proves, and a function that implements a layer."""

from derivations.testing.equality import Equality, assert_equal
from derivations.testing.implementation import assert_implements
from derivations.testing.printed import from_latex
from derivations.testing.proof import assert_proved, assert_same

__all__ = ["Equality", "assert_equal", "assert_implements", "assert_proved", "assert_same", "from_latex"]
