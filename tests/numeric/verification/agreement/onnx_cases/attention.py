"""Attention and rotary embedding of the ONNX cases, heads being batch axes: what is masked is said by the language."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Expr, Float, Integer, Lambda, Le, Lt, Symbol, sqrt, tanh

from derivations.language.arrays.arrangements import Numbers, PlacedBlock, Tabulated, column_block
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    RowBroadcast,
    Variable,
    array,
    mask_array,
    token_array,
)
from derivations.language.arrays.functions import Hadamard, Interleave, Lookup, MaskConjunction, named, row_softmax
from derivations.language.arrays.masks import band_mask
from derivations.language.arrays.rows import PlacedRows, RowRange, Stacked
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.selection import EveryOther
from derivations.language.arrays.shapes import Blocks
from derivations.language.layers.layer import Equations, Layer
from derivations.symbols import d_k, d_v, m, n, scalar, size
from tests.numeric.verification.agreement.onnx_cases.case import Given, NotWritten, Written

__all__ = ["attention", "rotary"]

BIASED, SOFTMAX = 2, 3  # what else may be asked for: scores with all that is added, and weights
row, key, length, x = (Symbol(name, integer=True) for name in ("row", "key", "length", "x"))
past, known = size("p"), size("known")  # keys that a cache holds, keys that a mask knows of
z = scalar("z")


def _headed(value: Any, heads: int) -> Any:
    """Return (batch, n, heads d) as (batch, heads, n, d)."""
    return value if value.ndim == 4 else value.reshape(*value.shape[:2], heads, -1).swapaxes(1, 2)


class _Attention:
    """The layer of one case, built equation by equation."""

    def __init__(self, given: Given) -> None:
        self.given, self.let = given, Equations()
        self.arrays: dict[Variable, Any] = {}
        self.keys: Expr = m
        attributes = given.attributes
        self.groups = int(attributes.get("kv_num_heads", 0)) or given.inputs["K"].shape[1]
        self.heads = int(attributes.get("q_num_heads", 0)) or given.inputs["Q"].shape[1]

    def take(self, variable: Variable, value: Any) -> Variable:
        self.arrays[variable] = value
        return variable

    def of_queries(self, value: Any) -> Any:
        """Return (batch, heads, ...) as (batch, groups, heads of a group, ...)."""
        if value.shape[1] == 1:
            return value[:, :, None]
        return value.reshape(value.shape[0], self.groups, -1, *value.shape[2:])

    def layer(self) -> Written:
        let, given = self.let, self.given
        Q = self.take(array("Q", n, d_k), self.of_queries(_headed(given.real("Q"), self.heads)))
        K, V = self.rows("K", "past_key", d_k), self.rows("V", "past_value", d_v)
        scale = given.attributes.get("scale")
        raw = scores = let("S")((Q @ K.T) * (1 / sqrt(d_k) if scale is None else Float(scale)))
        if cap := given.number("softcap", 0):
            scores = let("capped")(named("capped", Float(cap) * tanh(z / Float(cap)), z)(scores))
        capped = scores
        mask = self.mask()
        bias = self.bias()
        if bias is not None:
            scores = let("biased")(scores + bias)
        A = let("A")(row_softmax(scores, mask))
        O = let("O")(A @ V)
        mode = int(given.number("qk_matmul_output_mode", 0))
        if mode == BIASED and "qk_matmul_output" in given.outputs and mask is not None:
            raise NotWritten("the scores of hidden keys are wanted as -inf, and arrays hold real numbers")
        shown = {0: raw, 1: capped, BIASED: scores, SOFTMAX: A}[mode]
        wanted = {"Y": O, "present_key": K, "present_value": V, "qk_matmul_output": shown}
        outputs = tuple(wanted[name] for name in given.outputs)
        layer = Layer("attention", tuple(self.arrays), (), let, outputs[0] if len(outputs) == 1 else outputs)
        return Written(layer, list(self.arrays.values()), [self.laid(name) for name in given.outputs])

    def rows(self, name: str, cached: str, width: Expr) -> Array:
        """Return keys or values, below those of a cache."""
        now = self.take(array(name, m, width), _headed(self.given.real(name), self.groups)[:, :, None])
        if cached not in self.given.inputs:
            return now
        self.keys = past + m
        earlier = self.take(array(cached, past, width), self.given.real(cached)[:, :, None])
        return self.let(f"{name}_all")(Stacked(earlier, now))

    def laid(self, name: str) -> Any:
        """Return an output as the layer lays it."""
        value = _headed(self.given.real(name), self.heads)
        return value[:, :, None] if name.startswith("present") else self.of_queries(value)

    # --- what is hidden ---

    def mask(self) -> Array | None:
        masks = [mask for mask in (self.given_mask(), self.band(), self.padding()) if mask is not None]
        whole = None
        for mask in masks:
            whole = mask if whole is None else MaskConjunction(whole, mask)
        return None if whole is None else self.let("M")(whole)

    def spread(self, name: str) -> Any:
        """Return a mask that is given for all heads and queries, as (batch, groups, heads of a group, n, keys)."""
        mask = np.asarray(self.given.inputs[name])
        rows = self.given.inputs["Q"].shape[-2]
        mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
        return self.of_queries(np.broadcast_to(mask, (*mask.shape[:2], rows, mask.shape[-1])))

    def is_short(self, mask: Any) -> bool:
        cached = self.given.inputs.get("past_key")
        keys = self.given.inputs["K"].shape[-2] + (0 if cached is None else cached.shape[-2])
        return bool(mask.shape[-1] < keys)

    def given_mask(self) -> Array | None:
        if "attn_mask" not in self.given.inputs:
            return None
        value = self.spread("attn_mask")
        if value.dtype == bool:
            if self.is_short(value):
                raise NotWritten("a mask of fewer keys than there are")
            return self.take(mask_array("seen", n, self.keys), value)
        if self.is_short(value):  # what it says nothing of is hidden
            return Tabulated(Lambda((row, key), Iverson(Lt(key, known, evaluate=False))), n, self.keys)
        return None

    def bias(self) -> Array | None:
        if "attn_mask" not in self.given.inputs:
            return None
        value = self.spread("attn_mask")
        if value.dtype == bool:
            return None
        value = value.astype(np.float64)
        if not self.is_short(value):
            return self.take(array("B", n, self.keys), value)
        B = self.take(array("B", n, known), value)
        return PlacedRows(B.T, 0, self.keys).T

    def band(self) -> Array | None:
        """Return the causal mask, and the window, whose queries are the last of the keys that there are."""
        causal = bool(self.given.attributes.get("is_causal", 0))
        left, right = (int(self.given.number(f"{side}_window_size", -1)) for side in ("left", "right"))
        left_bound, right_bound = (None if bound < 0 else Integer(bound) for bound in (left, right))
        if causal:
            right_bound = Integer(0)
        if left_bound is None and right_bound is None:
            return None
        if "nonpad_kv_seqlen" in self.given.inputs:
            return self.band_of_length(left_bound, right_bound)
        offset = past if "past_key" in self.given.inputs else 0
        return band_mask(n, self.keys, left=left_bound, right=right_bound, offset=offset)

    def pairs(self) -> tuple[Array, Array]:
        """Return the number of the query, and that of the key, of every pair."""
        queries, keys = (Numbers(Lambda((x,), x), along) for along in (n, self.keys))
        return ColumnBroadcast(queries, self.keys), RowBroadcast(keys, n)

    def lengths(self) -> Variable:
        return self.take(token_array("length"), np.asarray(self.given.inputs["nonpad_kv_seqlen"])[:, None, None])

    def band_of_length(self, left: Expr | None, right: Expr | None) -> Array:
        last = row + length - n
        seen: Expr = Integer(1)
        if left is not None:
            seen *= Iverson(Le(last - left, key, evaluate=False))
        if right is not None:
            seen *= Iverson(Le(key, last + right, evaluate=False))
        return named("near", seen, row, key, length)(*self.pairs(), self.lengths())

    def padding(self) -> Array | None:
        if "nonpad_kv_seqlen" not in self.given.inputs:
            return None
        within = named("within", Iverson(Lt(key, length, evaluate=False)), key, length)
        return RowBroadcast(within(Numbers(Lambda((x,), x), self.keys), self.lengths()), n)


def attention(given: Given) -> Written:
    """Write attention; the heads of a group share their keys by broadcasting."""
    return _Attention(given).layer()


def rotary(given: Given) -> Written:
    """Write rotary embedding of the first columns, by tables of cosines and sines that are inputs."""
    names = list(given.inputs)
    value = given.real(names[0])
    heads = int(given.number("num_heads", 0))
    width = value.shape[-1] // heads if value.ndim == 3 else value.shape[-1]
    turned = int(given.number("rotary_embedding_dim", 0)) or width
    has_places = len(names) == 4
    entries, pairs = size("v"), Integer(turned // 2)
    X = array("X", n, Integer(width))
    let = Equations()
    inputs: dict[Variable, Any] = {X: _headed(value, heads)}
    tables = []
    for name, letter in zip(names[1:3], ("cos", "sin"), strict=True):
        table = array(letter, entries if has_places else n, pairs)
        inputs[table] = given.real(name) if has_places else given.real(name)[:, None]
        tables.append(table)
    if has_places:
        places = token_array("places", n)
        inputs[places] = np.asarray(given.inputs[names[3]])[:, None]
        tables = [let(table.name[0].upper())(Lookup(table, places)) for table in tables]
    C, S = tables
    front = X if turned == width else let("front")(RowRange(X.T, 0, turned).T)
    if given.attributes.get("interleaved", 0):
        P = let("P")(_read(front, Blocks(pairs, Integer(2))))
        a, b = let("a")(EveryOther(P, 0)), let("b")(EveryOther(P, 1))
    else:
        P = let("P")(_read(front, Blocks(Integer(2), pairs)))
        a, b = let("a")(column_block(P, 0)), let("b")(column_block(P, 1))
    u, v = let("u")(Hadamard(C, a) - Hadamard(S, b)), let("v")(Hadamard(S, a) + Hadamard(C, b))
    if given.attributes.get("interleaved", 0):
        Y: Array = let("Y")(Interleave(u, v))
    else:
        Y = let("Y")(PlacedBlock(u, 0, 2) + PlacedBlock(v, 1, 2))
    if turned != width:
        rest = RowRange(X.T, turned, width - turned)
        Y = let("Y_all")(Stacked(Y.T, rest).T)
    (wanted,) = given.outputs
    layer = Layer("rotary", tuple(inputs), (), let, Y)
    return Written(layer, list(inputs.values()), [_headed(given.real(wanted), heads)])


def _read(matrix: Array, along: Blocks) -> Array:
    """Return a matrix with its columns read as blocks."""
    nothing = Tabulated(Lambda((row, key), Integer(0)), matrix.shape[0], along)
    return matrix + nothing
