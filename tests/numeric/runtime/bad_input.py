"""Unusual and wrong arguments of one layer, each with what comes of it: the rows of the table in docs/accuracy.md.

A case changes the arguments of masked multi-head attention, float32 at prime sizes; either the result is that of the
plain arguments, or the call is refused with a sentence.
"""

import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = ["ACCEPTED", "REFUSED", "SIZES", "arguments"]

SIZES = {"n": 5, "m": 7, "d_model": 11, "h": 3, "d_k": 13, "d_v": 2}
Arguments = dict[str, Any]
Change = Callable[[Arguments], Arguments]


def arguments(n: int = SIZES["n"], m: int = SIZES["m"], batch: tuple[int, ...] = (2,), seed: int = 0) -> Arguments:
    """Return the arguments of masked multi-head attention, of which every row has a visible key if there are keys."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32)

    d_model, h, d_k, d_v = (SIZES[name] for name in ("d_model", "h", "d_k", "d_v"))
    M = rng.random((*batch, n, m)) < 0.6
    M[..., :1] = True
    return {
        "X_Q": normal(*batch, n, d_model), "X_K": normal(*batch, m, d_model), "X_V": normal(*batch, m, d_model), "M": M,
        "W_Q": normal(h, d_model, d_k) / 3, "W_K": normal(h, d_model, d_k) / 3, "W_V": normal(h, d_model, d_v),
        "W_O": normal(h * d_v, d_model),
    }  # fmt: skip


def _arrays(change: Callable[[Any], Any], *, kinds: str = "fb") -> Change:
    """Change the arrays of given kinds, all of them."""
    return lambda given: {name: change(x) if x.dtype.kind in kinds else x for name, x in given.items()}


def _input(change: Callable[[Any], Any]) -> Change:
    """Change X_Q alone."""
    return lambda given: given | {"X_Q": change(given["X_Q"])}


def _strided(x: Any) -> Any:
    wide = np.zeros((*x.shape[:-1], 3 * x.shape[-1]), x.dtype)
    wide[..., ::3] = x
    return wide[..., ::3]


def _reversed(x: Any) -> Any:
    return np.ascontiguousarray(x[..., ::-1])[..., ::-1]


def _read_only(x: Any) -> Any:
    x = x.copy()
    x.flags.writeable = False
    return x


def _unaligned(x: Any) -> Any:
    buffer = bytearray(b"\0" + x.tobytes())
    return np.frombuffer(buffer, x.dtype, offset=1).reshape(x.shape)


def _mapped(x: Any) -> Any:
    with tempfile.TemporaryFile() as file:
        x.tofile(file)
        return np.memmap(file, x.dtype, mode="r", shape=x.shape)


def _overlapping(given: Arguments) -> Arguments:
    """Keys and values in one buffer, one row apart."""
    m = given["X_K"].shape[-2]
    buffer = np.concatenate([given["X_K"], given["X_V"][..., -1:, :]], axis=-2)
    return given | {"X_K": buffer[..., :m, :], "X_V": buffer[..., 1:, :]}


def _set(value: Any) -> Callable[[Any], Any]:
    def change(x: Any) -> Any:
        x = x.copy()
        x[..., 2, 3] = value
        return x

    return change


ACCEPTED: Mapping[str, Change] = {  # the result is that of plain copies of the same numbers
    "Fortran order": _arrays(np.asfortranarray),
    "every third column of a wider array": _arrays(_strided),
    "negative strides": _arrays(_reversed),
    "a transposed view": _arrays(lambda x: np.ascontiguousarray(x.mT).mT),
    "read-only": _arrays(_read_only),
    "not aligned in memory": _arrays(_unaligned),
    "a memory map": _arrays(_mapped, kinds="f"),
    "arrays that overlap": _overlapping,
    "one item for a whole batch (stride 0)": _input(lambda x: np.broadcast_to(x[:1], x.shape)),
    "subnormal entries": _input(lambda x: x * np.float32(1e-40)),
}

REFUSED: Mapping[str, tuple[Change, str]] = {
    "too few axes": (_input(lambda x: x[0, 0]), r"X_Q has shape \(11,\), batch axes in front of \(n, d_model\)"),
    "no axis at all": (_input(lambda x: np.float32(1)), r"X_Q has shape \(\), batch axes in front of"),
    "a wrong length": (_input(lambda x: x[..., :-1]), r"X_[QK] has shape .*, \([nm], d_model\) is needed with "),
    "batch axes that do not broadcast": (_input(lambda x: np.concatenate([x, x[:1]])), "do not broadcast: give equal"),
    "batch axes on a weight": (
        lambda given: given | {"W_Q": given["W_Q"][None]}, r"W_Q has shape \(1, 3, 11, 13\), \(h, d_model, d_k\) is"),
    "float16": (_arrays(lambda x: x.astype(np.float16), kinds="f"), "must be .* float32 or float64, not .* float16"),
    "longdouble": (_arrays(lambda x: x.astype(np.longdouble), kinds="f"), "float32 or float64, not .* float128"),
    "complex": (_arrays(lambda x: x.astype(np.complex64), kinds="f"), "float32 or float64, not .* complex64"),
    "integers for numbers": (_input(lambda x: x.astype(int)), "float32 or float64, not .* int64"),
    "objects": (_input(lambda x: x.astype(object)), "float32 or float64, not .* object"),
    "another byte order": (_input(lambda x: x.astype(x.dtype.newbyteorder())), "float32 or float64, not .* [<>]f4"),
    "float32 and float64 mixed": (_input(lambda x: x.astype(np.float64)), "float(32|64): convert one of them"),
    "a mask of numbers": (lambda given: given | {"M": given["M"].astype(np.float32)}, "M must be .* bool"),
    "a list": (_input(lambda x: x.tolist()), "X_Q must be a NumPy array of float32 or float64, not list"),
    "np.matrix": (_input(lambda x: x[0].view(np.matrix)), "X_Q must be a NumPy array .*, not matrix"),
    "a masked array": (_input(np.ma.masked_array), "X_Q must be a NumPy array .*, not MaskedArray"),
    "None": (_input(lambda x: None), "X_Q must be a NumPy array .*, not NoneType"),
    "NaN": (_input(_set(np.nan)), r"X_Q is NaN at \(0, 2, 3\): replace such entries first"),
    "an infinity": (_input(_set(np.inf)), r"X_Q is inf at \(0, 2, 3\): give finite numbers"),
    "minus infinity": (_input(_set(-np.inf)), r"X_Q is -inf at \(0, 2, 3\): give finite numbers"),
    "a weight without entries": (
        lambda given: given | {"W_V": given["W_V"][..., :0], "W_O": given["W_O"][:0]}, "weight without entries"),
}  # fmt: skip
