"""Contractions to try, at distinct prime sizes, and their values by loops over all values of all indices."""

from itertools import product
from typing import Any

import numpy as np
from sympy import Integer, KroneckerDelta, Rational, Symbol, lambdify, sympify
from sympy import Tuple as Places

from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.expression import array
from derivations.language.arrays.shapes import Blocks, total
from derivations.language.layers.layer import Equations, Layer
from derivations.symbols import d, d_k, h, m, n

SIZES = {n: 5, m: 3, d: 2, h: 7, d_k: 11}
i, j, k, l, p, q, r = (Symbol(letter, integer=True) for letter in "ijklpqr")
A, B, S, X = array("A", h, n, d), array("B", h, m, d), array("S", n, m), array("X", n, d)
X7, square = array("X", n, 7), array("S", n, n)

CASES: dict[str, tuple[Any, ...]] = {  # indices, shape, sums, factor, operands
    "batched product": ((i, j, k), (h, n, m), [(p, d)], 2, operand_of(A, (i, j, p)), operand_of(B, (i, k, p))),
    "permuted": ((i, j, k), (d, h, n), [], 1, operand_of(A, (j, k, i))),
    "slice in steps": ((i, j), (n, 3), [], 1, operand_of(X7, (i, 1 + 2 * j))),
    "prefix": ((i, j), (n, 2), [], 1, operand_of(X7, (i, j))),
    "one column": ((i,), (n,), [], 1, operand_of(X, (i, 0))),
    "reversed": ((i, j), (n, 7), [], 1, operand_of(X7, (i, 6 - j))),
    "split axis": ((i, j, k), (h, d_k, d), [], 1, operand_of(array("W", h * d_k, d), (d_k * i + j, k))),
    "split in three": (
        (i, j, k),
        (3, h, d_k),
        [],
        1,
        operand_of(array("x", 3 * h * d_k), (h * d_k * i + d_k * j + k,)),
    ),
    "merged axes": ((i, Places(j, k)), (n, Blocks(h, d)), [], 1, operand_of(A, (j, i, k))),
    "repeated": ((i, Places(j, k), l), (n, Blocks(h, Integer(3)), d), [], 1, operand_of(A, (j, i, l))),
    "diagonal": ((i,), (n,), [], 1, operand_of(square, (i, i))),
    "trace": ((), (), [(p, n)], 1, operand_of(square, (p, p))),
    "four axes": (
        (i, j, k, l),
        (h, n, m, d),
        [],
        1,
        operand_of(array("v", n), (j,)),
        operand_of(array("Y", h, n, m, d), (i, j, k, l)),
    ),
    "three operands": (
        (i,),
        (h,),
        [(p, n), (q, m), (r, d)],
        Rational(1, 3),
        operand_of(A, (i, p, r)),
        operand_of(B, (i, q, r)),
        operand_of(S, (p, q)),
    ),
    "number repeated": ((i, j), (n, m), [], 1, operand_of(array("t"), ())),
    "convolution": ((i,), (5,), [(p, 3)], 1, operand_of(array("z", 7), (i + p,)), operand_of(array("w", 3), (p,))),
    "placed among zeros": ((i, j), (n, m + d), [(p, d)], KroneckerDelta(p + m, j), operand_of(X, (i, p))),
    "weighted": ((i, j), (n, d), [], i + 2 * j + 1, operand_of(X, (i, j))),
    "twice": ((i, j), (n, n), [(p, d)], 1, operand_of(X, (i, p)), operand_of(X, (j, p))),
}


def layer_of(name: str) -> Layer:
    """Return the layer of one equation."""
    operands = CASES[name][4:]
    let = Equations()
    output = let("C")(contraction(*CASES[name]))
    return Layer("tried", tuple(dict.fromkeys(each[0] for each in operands)), (), let, output)


def whole(size: Any) -> int:
    """Return the value of a size."""
    return int(sympify(size).subs(SIZES))


def drawn(layer: Layer, rng: Any, batch: tuple[int, ...] = ()) -> dict[str, Any]:
    """Return random inputs of a layer."""
    shapes = {v.name: batch + tuple(whole(total(along)) for along in v.shape) for v in layer.inputs}
    return {name: rng.standard_normal(shape) for name, shape in shapes.items()}


def by_loops(name: str, inputs: dict[str, Any]) -> Any:
    """Return the value of a contraction: the definition, entry by entry."""
    indices, shape, sums, factor, *operands = CASES[name]
    own = [s for index in indices for s in (index if isinstance(index, Places) else (index,))]
    counts = [whole(c) for a in shape for c in ((a.count, a.size) if isinstance(a, Blocks) else (a,))]
    symbols = [*own, *(s for s, _ in sums)]
    formulas = [[sympify(f).subs(SIZES) for f in each] for each in ((factor,), *(each[1:] for each in operands))]
    numbers = lambdify(symbols, formulas, [{"KroneckerDelta": lambda a, b: int(a == b)}, "math"])
    value = np.zeros(counts)
    for at in product(*map(range, counts)):
        for chosen in product(*(range(whole(count)) for _, count in sums)):
            (term,), *places = numbers(*at, *chosen)
            for each, place in zip(operands, places, strict=True):
                term *= inputs[each[0].name][tuple(place)]
            value[at] += term
    return value.reshape([whole(total(a)) for a in shape])
