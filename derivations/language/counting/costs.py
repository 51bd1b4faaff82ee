"""Counts computed from the equations of a layer: its parameters, its shapes, and counts as terms in formulas.

No layer has a special rule here: a family counts once for each of its members, a repetition once for each of its
layers. `flop_counts`, `operations` and `convention` define how operations are counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any

from sympy import Expr, Integer, expand
from sympy.core.symbol import Str
from sympy.printing.str import StrPrinter

from derivations.language.arrays.arrangements import Concatenate, SumOver
from derivations.language.arrays.expression import Array, Shape
from derivations.language.arrays.shapes import ShapeError, Sized, axis, same_size, shape_text
from derivations.language.counting.convention import CONVENTION, Convention
from derivations.language.counting.flop_counts import (
    count_decode_flops,
    count_flops,
    count_training_flops,
    flops_by_part,
)
from derivations.language.counting.mask_sparsity import operands
from derivations.language.counting.operations import Flops, count_operations, entries
from derivations.language.layers.layer import Apply, Layer, Repeat, require_layer

__all__ = [
    "CONVENTION",
    "COUNTS",
    "Convention",
    "Count",
    "Flops",
    "count_decode_flops",
    "count_flops",
    "count_operations",
    "count_parameters",
    "count_training_flops",
    "flops_by_part",
    "parameters_by_part",
    "shape_table",
    "weight_shapes",
]

# --- parameters and shapes ------------------------------------------------------------------------------------------


def count_parameters(layer: Layer) -> Expr:
    """Return the number of learned scalars of a layer, as an expression in its sizes.

    Definition   the sizes of its own parameters and of those of its parts, a repetition counted for each layer
    Assumes      a part applied twice under one name counts once; a bound parameter is not a parameter of the part
    Units        parameters
    Raises       ShapeError when two parts under one name have weights of different shapes
    """
    return expand(sum(parameters_by_part(require_layer(layer)).values(), Integer(0)))


def parameters_by_part(layer: Layer) -> dict[str, Expr]:
    """Return, by name, the number of parameters of each weight of the layer itself and of each part with parameters.

    Units        parameters; the values add up to `count_parameters(layer)`
    Raises       ShapeError when two parts under one name have weights of different shapes
    """
    counts: dict[str, Expr] = {}
    for name, (shape, copies) in weight_shapes(layer).items():
        # attention.W_Q counts under `attention`: the first name is that of the part
        head = name.partition(".")[0]
        counts[head] = expand(counts.get(head, Integer(0)) + copies * entries(shape))
    return counts


def shape_table(layer: Layer) -> tuple[tuple[str, Shape], ...]:
    """Return the shape of every input, parameter and intermediate, in order of evaluation.

    Definition   an array of a part is named `part.name`, the part's parameters before its intermediates; the index of
                 a family is the leading axis; one layer of a repetition is shown
    """
    return (*((v.name, v.shape) for v in layer.inputs), *_shapes(layer, (), {}))


def _shapes(layer: Layer, around: Shape, bound: Collection[str]) -> Iterator[tuple[str, Shape]]:
    yield from ((p.name, p.shape) for p in layer.parameters if p.name not in bound)
    for equation in layer.equations:
        family = (*around, equation.over[1]) if equation.over else around
        for applied, leading in _applications(equation.value, family):
            for name, shape in _shapes(applied.layer, leading, applied.bound):
                yield f"{applied.name}.{name}", shape
        yield equation.variable.name, (*around, *equation.variable.shape)


def weight_shapes(layer: Layer) -> dict[str, tuple[Shape, Expr]]:
    """Return, by dotted name, the shape of every weight and the number of its copies.

    Raises       ShapeError when two parts under one name have weights of different shapes
    """
    return dict(_weight_shapes(layer))


@lru_cache(maxsize=1 << 10)
def _weight_shapes(layer: Layer) -> Mapping[str, tuple[Shape, Expr]]:
    weights = {p.name: (p.shape, Integer(1)) for p in layer.parameters}
    for applied, _ in chain.from_iterable(_applications(e.value, ()) for e in layer.equations):
        count = applied.count if isinstance(applied, Repeat) else Integer(1)
        for inner, (shape, copies) in _weight_shapes(applied.layer).items():
            if inner in applied.bound:
                continue
            name = f"{applied.name}.{inner}"
            # one name is one weight: a part applied twice shares it, so it counts once
            known, known_copies = weights.setdefault(name, (shape, count * copies))
            if not _same(known, shape) or known_copies != count * copies:
                raise ShapeError(
                    f"layer {layer.name}: {name} is {known_copies} x {shape_text(known)} in one place and "
                    f"{count * copies} x {shape_text(shape)} in another; give the two parts different names"
                )
    return weights


def _same(a: Shape, b: Shape) -> bool:
    return len(a) == len(b) and all(map(same_size, a, b))


def _applications(node: Array, leading: Shape) -> Iterator[tuple[Apply, Shape]]:
    """Yield the layers applied in an expression, arguments first, each with the axes of its surrounding families."""
    inside = (*leading, node.args[2]) if isinstance(node, Concatenate | SumOver) else leading
    for operand in operands(node):
        yield from _applications(operand, inside)
    if isinstance(node, Apply):
        yield node, leading


# --- a count as a term ----------------------------------------------------------------------------------------------


class Count(Expr):
    """A count of a layer as an unevaluated term: "parameters", "FLOPs", "matmul FLOPs", "multiply-adds", ...

    It uses `CONVENTION`; "elementwise FLOPs" are the kinds `elementwise` and `activation` of `Flops` together.

    `value()` is the expression in the sizes, computed from the equations.

    Units        parameters, FLOPs, or multiply-adds, as its name says
    Raises       ValueError for an unknown name
    """

    is_commutative = True
    is_nonnegative = True

    def __new__(cls, what: str | Str, layer: Layer, batch: Sized = 1) -> Count:
        """Build the term for a count of a layer by name, over `batch` examples."""
        what = what if isinstance(what, Str) else Str(what)
        if what.name not in COUNTS:
            raise ValueError(f"there is no count called {what.name!r}; the counts are {', '.join(COUNTS)}")
        return super().__new__(cls, what, layer, axis(batch))

    @property
    def what(self) -> str:
        """The name of the count, such as "FLOPs"."""
        return self.args[0].name

    @property
    def layer(self) -> Layer:
        """The layer whose count it is."""
        return self.args[1]

    @property
    def batch(self) -> Expr:
        """The number of examples."""
        return self.args[2]

    @property
    def free_symbols(self) -> set[Any]:
        """The sizes that the count may depend on; the indices of the layer are bound."""
        return set(self.layer.sizes) | self.batch.free_symbols

    def value(self) -> Expr:
        """Return the count computed from the equations."""
        if self.what == "parameters":
            return count_parameters(self.layer)
        if self.what == "multiply-adds":
            return count_flops(self.layer, self.batch, Convention(unit="mac")).matmul
        flops = count_flops(self.layer, self.batch)
        if self.what == "FLOPs":
            return flops.total
        return sum((flops.by_kind[kind] for kind in _KINDS[self.what.removesuffix(" FLOPs")]), Integer(0))

    def _eval_is_positive(self) -> bool | None:
        return self.value().is_positive

    def _sympystr(self, printer: StrPrinter) -> str:
        batch = "" if self.batch == 1 else f", batch = {self.batch}"
        return f"{self.what}({self.layer.name}{batch})"


_KINDS = {kind: (kind,) for kind in ("matmul", "bias", "softmax", "norm", "activation", "reduction")} | {
    "elementwise": ("elementwise", "activation")
}
COUNTS = ("parameters", "FLOPs", *(f"{kind} FLOPs" for kind in _KINDS), "multiply-adds")
