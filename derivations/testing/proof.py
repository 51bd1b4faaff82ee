"""`assert_proved` and `assert_same`: the judge decides about a function over arrays, for all sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sympy import Expr

from derivations.catalogue import get, names
from derivations.catalogue import layer as layer_called
from derivations.language.layers.layer import Layer
from derivations.language.results.derivation import Derivation

if TYPE_CHECKING:
    from numeric.lifting import Verdict

__all__ = ["assert_proved", "assert_same"]


def assert_proved(
    function: Callable[..., Any],
    target: Layer | Derivation | Expr | Callable[..., Any] | str,
    /,
    *,
    names: Mapping[str, str] | None = None,
    or_tested: bool = False,
    **shapes: Any,
) -> Verdict:
    """Assert that a function over NumPy, PyTorch or JAX arrays, or a module, is a layer, for all sizes.

    Definition   the function is called with symbolic arrays; what it does becomes the equations of a layer; these are
                 run against the function; then the judge decides whether the output is that of the target: a layer or
                 its name, a result or its id (its right-hand side), a formula, another function
    Result       the verdict: its level is "proved", with everything that the proof rests on
    Shapes       those of the target's arrays, which go to the parameters of the same names, else in order; `names`
                 says which parameter (or weight of a module) is which array, keywords give other shapes
    Assumes      real arithmetic: nothing is said about rounding or overflow
    Raises       AssertionError where the function is refuted, by a run of the function itself, or where nothing is
                 known; with `or_tested` what is unknown is tested by `assert_implements`, and its level is "tested"
    """
    __tracebackhide__ = True
    from numeric.lifting import by_tests, prove, prove_same  # deferred: NumPy is wanted here alone

    aim = _target(target)
    verdict = prove(function, aim, names, **shapes) if isinstance(aim, Layer) else prove_same(function, aim, **shapes)
    if verdict.level == "proved":
        return verdict
    if or_tested and verdict.level != "refuted" and isinstance(aim, Layer):
        return by_tests(function, aim, verdict)
    testable = isinstance(aim, Layer) and verdict.level != "refuted" and not verdict.raised
    offer = "; assert_implements tests it" if testable else ""
    raise AssertionError(f"{verdict}{offer}")


def assert_same(one: Callable[..., Any], other: Callable[..., Any], /, **shapes: Any) -> Verdict:
    """Assert that two functions compute the same, for all sizes: `assert_same(old, new, X=(n, d), W=(d, d))`.

    Raises       AssertionError as `assert_proved` does
    """
    __tracebackhide__ = True
    from numeric.lifting import prove_same  # deferred, as above

    verdict = prove_same(one, other, **shapes)
    if verdict.level != "proved":
        raise AssertionError(str(verdict))
    return verdict


def _target(given: Any) -> Any:
    """Return the layer, formula or function to compare with, from an object or a name that the user gives."""
    if isinstance(given, str):
        return get(given).rhs if given in names() else layer_called(given)
    return given.rhs if isinstance(given, Derivation) else given
