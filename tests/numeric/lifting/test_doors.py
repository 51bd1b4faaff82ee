"""Which library's arrays a function is called with, and whose code a file is."""

import sys
from types import ModuleType

import numpy as np
import pytest

from derivations.catalogue import layer
from derivations.symbols import d, n
from numeric.lifting import prove, prove_same
from numeric.lifting.doors.choice import NUMPY, _used, called_with, door_of, doors_of
from numeric.lifting.refusals import is_users


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def test_a_function_over_numpy_arrays():
    assert door_of(softmax) is NUMPY


def calling(inner, number):
    def outer(x):
        return inner(x)

    outer.__code__ = outer.__code__.replace(co_name=f"outer_{number}")
    return outer


def test_the_nearest_functions_say_which_library_is_used():
    """More functions that say nothing than are looked through stand beside the one that uses NumPy."""
    chain = softmax
    for number in range(120):
        chain = calling(chain, number)

    def both(x):
        return chain(np.exp(x))

    assert doors_of(both) == [NUMPY]
    assert "numpy" in _used(both)
    assert "numpy" not in _used(chain)


def test_a_chosen_door_holds_inside_the_block():
    other = type(NUMPY)(**{**vars(NUMPY), "name": "other"})
    with called_with(other):
        assert door_of(softmax) is other
    assert door_of(softmax) is NUMPY


@pytest.mark.peers
def test_the_next_library_is_tried_where_the_first_does_not_follow():
    """It asks PyTorch for a number type, and computes with NumPy."""
    torch = pytest.importorskip("torch")

    def mixed(x):
        assert torch.float32.is_floating_point
        e = np.exp(np.subtract(x, np.max(x)))
        return e / e.sum()

    def wrong(x):
        return mixed(x) * 2

    assert [door.name for door in doors_of(mixed)] == ["torch", "numpy"]
    verdict = prove(mixed, layer("softmax"))
    assert verdict.level == "proved"
    assert "arrays of numpy" in verdict.readings
    assert prove(wrong, layer("softmax")).level == "refuted"


@pytest.mark.peers
def test_the_name_of_an_attribute_is_no_global():
    """`x.torch` reads nothing of PyTorch, though the module imports it under that name."""
    space = {"torch": pytest.importorskip("torch"), "np": np}
    exec("def f(x):\n    return np.exp(x)\ndef g(x):\n    return np.exp(x) if x.ndim else x.torch", space)  # noqa: S102
    assert [door.name for door in doors_of(space["f"])] == ["numpy"]
    assert [door.name for door in doors_of(space["g"])] == ["numpy"]


@pytest.mark.peers
def test_a_function_of_methods_alone_takes_the_arrays_of_any_library():
    """Its module knows PyTorch, whose tensors have no such arguments; NumPy's arrays do."""
    space = {"torch": pytest.importorskip("torch")}
    exec("def f(x):\n    return x.transpose(1, 0).mean(1)", space)  # noqa: S102
    exec("def g(x):\n    return x.sum(0) / x.shape[0]", space)  # noqa: S102
    exec("def wrong(x):\n    return x.sum(1) / x.shape[0]", space)  # noqa: S102
    assert prove_same(space["f"], space["g"], x=(n, d)).level == "proved"
    assert prove_same(space["wrong"], space["g"], x=(n, n)).level == "refuted"


def test_a_folder_with_the_name_of_a_library_is_not_the_library(monkeypatch, tmp_path):
    assert is_users(str(tmp_path / "keras" / "backend" / "numpy" / "nn.py"))
    assert not is_users(np.__file__)
    fake = ModuleType("torch")
    fake.__file__ = str(tmp_path / "libraries" / "torch" / "__init__.py")
    monkeypatch.setitem(sys.modules, "torch", fake)
    assert not is_users(str(tmp_path / "libraries" / "torch" / "functional.py"))
