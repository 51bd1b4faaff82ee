"""What the tests of lifting share: a function is lifted, compiled, and run beside itself."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sympy import Expr, Symbol

from derivations.language.arrays.expression import Variable
from numeric import compile_layer
from numeric.lifting import Lifted, lift

__all__ = ["SIZES", "drawn", "follows", "value_of"]

SIZES = {"n": 5, "m": 3, "d": 4, "h": 2, "p": 7, "q": 6}  # q = 2 * 3 and d = 2 * 2 take the reshapes


def drawn(variable: Variable, sizes: dict[str, int], seed: int) -> Any:
    """Return random entries for an argument."""
    rng = np.random.default_rng(seed)
    put = {s: sizes[s.name] for s in variable.free_symbols if isinstance(s, Symbol) and s.name in sizes}
    shape = tuple(int(Expr.xreplace(size, put)) for size in variable.shape)
    if variable.kind == "boolean":
        return rng.random(shape) < 0.6
    return rng.integers(0, 2, shape) if variable.kind == "integer" else rng.standard_normal(shape)


def value_of(lifted: Lifted, arrays: dict[str, Any], sizes: dict[str, int]) -> Any:
    """Return what the lifted layer computes."""
    compiled = compile_layer(lifted.layer)
    code = compiled.function.__code__
    asked = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return compiled(**{name: value for name, value in {**sizes, **arrays}.items() if name in asked}, check=False)


def follows(function: Callable[..., Any], sizes: dict[str, int] | None = None, **shapes: Any) -> Lifted:
    """Lift a function and assert that its equations compute what it computes."""
    sizes = {**SIZES, **(sizes or {})}
    lifted = lift(function, **shapes)
    arrays = {name: drawn(v, sizes, seed) for seed, (name, v) in enumerate(lifted.arguments.items())}
    expected = function(**{name: array.copy() for name, array in arrays.items()})
    found = value_of(lifted, arrays, sizes)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    return lifted
