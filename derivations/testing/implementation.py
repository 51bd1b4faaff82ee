"""`assert_implements`: compare a function over arrays with a layer, in values and gradients."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from derivations.catalogue import layer as layer_called
from derivations.language.layers.layer import Layer

if TYPE_CHECKING:
    from numeric.verification.conformance import Conformance

__all__ = ["assert_implements"]


def assert_implements(
    function: Callable[..., Any],
    layer: Layer | str,
    *,
    call: Callable[..., Any] | None = None,
    arrays: str | None = None,
    gradients: bool = True,
    dtypes: Sequence[str] = ("float64", "float32"),
    batch: bool = True,
    fully_masked_rows: bool = True,
    seed: int = 0,
    **sizes_and_scalars: float,
) -> "Conformance":
    """Assert that a function over NumPy, PyTorch or JAX arrays computes a layer; return the comparisons made.

    Definition   the function is called like the compiled layer, by position: inputs, parameters, weights of parts (a
                 dict each, a list of dicts for a repetition), then sizes and scalars that no shape determines; epsilon
                 is not passed: the function's default must be the layer's (1e-5, or the one given by keyword).
                 `call(function, *arguments)` adapts another signature, or a module
    Result       values in float64 and float32, without and with leading batch axes, with inputs so large that an
                 unshifted exp overflows, with masks, and gradients by PyTorch's or JAX's differentiation; also that no
                 argument is overwritten, no call depends on an earlier one, and any memory order of arrays works
    Shapes       distinct primes, then ones, equal sizes and several hundred, unless sizes are given by keyword;
                 `batch=False` for a function without batch axes
    Assumes      `fully_masked_rows`: a row without visible keys gives zeros; pass False if a function need not do so
    Raises       AssertionError with the smallest failing case and the formula; LookupError for an unknown layer;
                 TypeError, or InputError (a ValueError), for a bad argument of this function
    """
    __tracebackhide__ = True
    if not callable(function):
        raise TypeError(f"assert_implements takes a function, not {type(function).__name__}")
    if not isinstance(layer, Layer | str):
        raise TypeError(f"assert_implements takes a layer or the name of one, not {type(layer).__name__}")
    from numeric.verification.conformance import conformance  # deferred: NumPy is wanted here alone

    found = conformance(
        function,
        layer_called(layer) if isinstance(layer, str) else layer,
        layer if isinstance(layer, str) else layer.name,
        call=call,
        arrays=arrays,
        gradients=gradients,
        dtypes=dtypes,
        batch=batch,
        fully_masked_rows=fully_masked_rows,
        seed=seed,
        given=sizes_and_scalars,
    )
    if found.failure is not None:
        raise AssertionError(str(found))
    return found
