"""The benchmark: every right function passes, every wrong one is refused, but for two that are named."""

import pytest

from derivations.testing import assert_implements
from tests.testing.implementations.right_arrays import RIGHT_ARRAYS
from tests.testing.implementations.wrong_numbers import WRONG_NUMBERS
from tests.testing.implementations.wrong_sizes import WRONG_SIZES
from tests.testing.implementations.wrong_state import WRONG_STATE

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

WRONG = [each for kept in (WRONG_SIZES, WRONG_STATE, WRONG_NUMBERS) for each in kept.members]
# the largest of many scores must be far beyond those of the first 32; libraries break ties of experts as they like
ACCEPTED = {"largest_of_the_first_32", "ties_go_to_the_last"}


@pytest.mark.parametrize("each", RIGHT_ARRAYS.members, ids=lambda each: each.name)
def test_a_right_function_passes(each):
    assert_implements(each.make(), each.layer, **each.options)


@pytest.mark.parametrize("each", [each for each in WRONG if each.name not in ACCEPTED], ids=lambda each: each.name)
def test_a_wrong_function_is_refused(each):
    with pytest.raises(AssertionError, match="the function is not"):
        assert_implements(each.make(), each.layer, **each.options)
