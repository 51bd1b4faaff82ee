"""Operations on a part of an array: a slice is never taken for the whole that it was cut from."""

from typing import Any

import numpy as np
import pytest

from derivations.symbols import d, d_ff, h, n
from numeric.lifting.lift import lift
from numeric.lifting.proving import prove_same

PARTS = {
    "summed": lambda x: x[:, :2].sum(axis=-1),
    "transposed": lambda x: x[:2].T,
    "repeated": lambda x: x[0, :2] + x[:, :2],
    "multiplied": lambda x: x[:, :2] @ x[:, :2].T,
    "averaged": lambda x: x[1:].mean(axis=0),
}
WHOLES = {
    "summed": lambda x: x.sum(axis=-1),
    "multiplied": lambda x: x @ x.T,
    "averaged": lambda x: x.mean(axis=0),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_has_its_own_shape(name: str) -> None:
    x = np.arange(20.0).reshape(5, 4)
    assert tuple(map(int, lift(PARTS[name], x=(5, 4)).layer.output.shape)) == PARTS[name](x).shape


@pytest.mark.parametrize("name", WHOLES)
def test_a_part_is_not_the_whole(name: str) -> None:
    found = prove_same(PARTS[name], WHOLES[name], x=(5, 4))
    assert found.level == "refuted", str(found)


def test_the_parts_of_a_product_of_sizes() -> None:
    """The first third of 3 h d rows, transposed in a product, has h d columns."""

    def first(x: Any, w: Any) -> Any:
        return x @ np.split(w, 3)[0].T

    assert [str(size) for size in lift(first, x=(n, d_ff), w=(3 * h * d, d_ff)).layer.output.shape] == ["n", "d*h"]
