"""The benchmark over tensors: PyTorch in full; JAX, which compiles every case anew, in the benchmark alone."""

import pytest

from derivations.testing import assert_implements

pytest.importorskip("torch", reason="the peers tests compare with PyTorch")
pytest.importorskip("jax", reason="the peers tests compare with JAX")

from tests.testing.implementations.right_tensors import RIGHT_TENSORS
from tests.testing.implementations.wrong_tensors import WRONG_TENSORS

pytestmark = pytest.mark.peers


def of_torch(collection):
    return [each for each in collection.members if each.options["arrays"] == "torch"]


@pytest.mark.parametrize("each", of_torch(RIGHT_TENSORS), ids=lambda each: each.name)
def test_a_right_function_passes(each):
    assert assert_implements(each.make(), each.layer, **each.options).gradients


@pytest.mark.parametrize("each", of_torch(WRONG_TENSORS), ids=lambda each: each.name)
def test_a_wrong_function_is_refused(each):
    with pytest.raises(AssertionError, match="the function is not"):
        assert_implements(each.make(), each.layer, **each.options)
