"""Every result has Python source; where it has a value, running the source gives it."""

from typing import Any

import pytest

from derivations import get, names
from derivations.language.printing.loops import python_source

X = [[1, 2, 4], [3, 5, 7]]
VALUES: dict[str, dict[str, Any]] = {
    "softmax.jacobian": {"x": [2, 1, 0], "n": 3, "i": 0, "k": 1},
    "softmax.saturation": {"g": 2},
    "attention.weights": {"Q": X, "K": X, "d_k": 3, "m": 2, "n": 2, "i": 0, "j": 1},
    "positional_encoding.dot_product": {"d_model": 4, "n": 5, "p": 1, "q": 3},
}


def run(name: str) -> Any:
    """Return the function that the source defines."""
    scope: dict[str, Any] = {}
    exec(compile(python_source(get(name)), name, "exec"), scope)  # noqa: S102 - our own source is what is tested
    return scope[name.replace(".", "_")]


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_every_result_has_source_that_compiles(name: str):
    compile(python_source(get(name)), name, "exec")


@pytest.mark.parametrize("name", VALUES)
def test_the_source_computes_the_right_hand_side(name: str):
    function = run(name)
    wanted = function.__code__.co_varnames[: function.__code__.co_argcount]
    values = VALUES[name]
    computed = function(**{argument: values[argument] for argument in wanted})
    used = {argument: values[argument] for argument in values if argument in wanted or argument in ("n", "m")}
    assert abs(computed - get(name).function()(**{**values, **used})) < 1e-14


def test_a_defined_array_is_a_function_of_its_places():
    source = python_source(get("softmax.jacobian"))
    assert "y = lambda place_0: exp(x[place_0])/sum(exp(x[j]) for j in range(0, n))" in source
    assert source.endswith("    return ((i == k) - y(k))*y(i)\n")
