"""The benchmark: every right function passes, every wrong one is refused, but for one that is named."""

import pytest

from derivations.testing import assert_implements
from tests.testing.implementations.held_out import RIGHT_REARRANGED, WRONG_ALONG_AXES
from tests.testing.implementations.right_arrays import RIGHT_ARRAYS
from tests.testing.implementations.wrong_numbers import WRONG_NUMBERS
from tests.testing.implementations.wrong_sizes import WRONG_SIZES
from tests.testing.implementations.wrong_state import WRONG_STATE
from tests.tiers import few

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

WRONG = [each for kept in (WRONG_SIZES, WRONG_STATE, WRONG_NUMBERS, WRONG_ALONG_AXES) for each in kept.members]
ACCEPTED = {"ties_go_to_the_last"}  # libraries break ties of experts as they like
RIGHT = [*RIGHT_ARRAYS.members, *RIGHT_REARRANGED.members]


@pytest.mark.parametrize("each", few(RIGHT, fast=12), ids=lambda each: each.name)
def test_a_right_function_passes(each):
    assert_implements(each.make(), each.layer, **each.options)


@pytest.mark.parametrize(
    "each", few([each for each in WRONG if each.name not in ACCEPTED], fast=40), ids=lambda each: each.name
)
def test_a_wrong_function_is_refused(each):
    with pytest.raises(AssertionError, match="the function is not"):
        assert_implements(each.make(), each.layer, **each.options)
