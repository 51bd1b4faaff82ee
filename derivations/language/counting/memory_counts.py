"""Bytes computed from the equations of a layer: the residuals that its forward pass saves, and the training state.

`saved_residuals` lists the residuals, array by array; `SavedResidualCount` is a count of them as an unevaluated term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from sympy import Expr, Integer, expand, sympify
from sympy import Tuple as Sequence
from sympy.core.symbol import Str
from sympy.printing.str import StrPrinter

from derivations.former_names import current
from derivations.language.arrays.expression import Array
from derivations.language.arrays.functions import RowSoftmax
from derivations.language.arrays.shapes import Sized, axis, total
from derivations.language.counting.costs import Count
from derivations.language.counting.saved_residuals import Storage, Treatment, is_normalisation, storages
from derivations.language.layers.layer import Apply, Layer, require_layer

__all__ = [
    "SAVED_RESIDUAL_COUNTS",
    "SavedResidualCount",
    "SavedResiduals",
    "Storage",
    "attention_layers",
    "is_attention",
    "is_normalisation",
    "partitioned_state_bytes",
    "saved_residuals",
    "training_state_bytes",
]


@dataclass(frozen=True)
class SavedResiduals:
    """The residuals that a forward pass saves for its backward pass: each storage once, in order of evaluation.

    Units        entries; constants are listed in `storages` but not counted
    """

    storages: tuple[Storage, ...]

    def _entries(self, *kinds: str, roles: tuple[str, ...] = ("input", "activation")) -> Expr:
        counted = (s.elements for s in self.storages if s.kind in kinds and s.role in roles)
        return expand(sum(counted, Integer(0)))

    @property
    def numbers(self) -> Expr:
        """The number of real entries, without statistics."""
        return self._entries("real")

    @property
    def masks(self) -> Expr:
        """The number of entries of boolean arrays."""
        return self._entries("boolean")

    @property
    def integers(self) -> Expr:
        """The number of entries of integer arrays, such as tokens."""
        return self._entries("integer")

    @property
    def elements(self) -> Expr:
        """The number of all entries, without statistics."""
        return self._entries("real", "boolean", "integer")

    @property
    def inputs(self) -> Expr:
        """The number of entries of saved inputs of the layer."""
        return self._entries("real", "boolean", "integer", roles=("input",))

    @property
    def statistics(self) -> Expr:
        """The number of row statistics that normalisations save, such as means and variances."""
        return self._entries("real", roles=("statistic",))

    def bytes(
        self,
        bytes_per_number: Expr | int = 2,
        bytes_per_mask: Expr | int = 1,
        *,
        bytes_per_integer: Expr | int = 8,
        bytes_per_statistic: Expr | int = 0,
    ) -> Expr:
        """Return the bytes of all saved residuals.

        Units        bytes; statistics count 0 bytes by default, as in published formulas
        """
        sizes = (bytes_per_number, bytes_per_mask, bytes_per_integer, bytes_per_statistic)
        counts = (self.numbers, self.masks, self.integers, self.statistics)
        return expand(sum(size * count for size, count in zip(sizes, counts, strict=True)))


def saved_residuals(
    layer: Layer,
    *,
    batch: Sized = 1,
    recomputed: Iterable[str] = (),
    fused: Callable[[Layer], bool] = is_normalisation,
) -> SavedResiduals:
    """Return the residuals that the forward pass of a layer over `batch` examples saves for its backward pass.

    Definition   the values that the equations of the backward pass read, every storage once. An array passed to several
                 parts is one storage; a transpose or a block of a matrix shares the storage of that matrix. A part or
                 layer named in `recomputed` saves only its inputs, and its masks are built or drawn again; the layer
                 itself may be named. A part that is `fused` is one operation: it saves its inputs and its row
                 statistics, and recomputes entrywise values from them. A function whose slope is a function of its
                 value (ReLU, sigmoid, tanh, exp) saves the value, any other function its arguments; a softmax saves
                 its value, and its mask of visible keys is not read again
    Assumes      every real input and every parameter has a gradient; the layers of a repetition share their inputs
                 except the first, and the first layer is counted like the others
    Units        entries; `.bytes()` gives bytes
    Source       saved values and recomputation: Korthikanti et al. (2022), sections 4.1 and 5
    Raises       GradientError for a node without a rule; ValueError for a name in `recomputed` that no layer has
    """
    names = frozenset([recomputed] if isinstance(recomputed, str) else recomputed)
    known = set(_names(require_layer(layer)))
    unknown = sorted(names - known)
    if unknown:
        raise ValueError(
            f"layer {layer.name}: nothing in it is called {unknown[0]!r}, so it cannot be recomputed; "
            f"its parts and layers are {', '.join(sorted(known))}"
        )
    found = storages(layer, Treatment(names, fused))
    examples = total(axis(batch))
    # a table of positions is the same for every example, so it is stored once
    return SavedResiduals(tuple(s if s.role == "constant" else replace(s, copies=s.copies * examples) for s in found))


def attention_layers(layer: Layer) -> tuple[str, ...]:
    """Return the names of the inner layers that compute scores, attention weights and weighted sums.

    Definition   the layers that take the softmax of rows and have no parameters, nor have their parts. Recomputing them
                 is selective recomputation: queries, keys and values are saved, but no array quadratic in their number
    Source       Korthikanti et al. (2022), section 5 and figure 3
    """
    return tuple(sorted({inner.name for inner in _layers(layer) if is_attention(inner)}))


def is_attention(layer: Layer) -> bool:
    """Return whether a layer of several equations itself takes a row softmax, and it has no parameters at any depth."""
    learned = any(inner.parameters for inner in _layers(layer))
    # More than one equation, because the layer `softmax` alone is not attention.
    return not learned and len(layer.equations) > 1 and any(_takes_softmax(e.value) for e in layer.equations)


def _takes_softmax(node: Array) -> bool:
    """Return whether an expression takes a softmax outside the layers that it applies."""
    operands = node.arguments if isinstance(node, Apply) else node.args
    return isinstance(node, RowSoftmax) or any(_takes_softmax(part) for part in operands if isinstance(part, Array))


def _layers(layer: Layer) -> Iterator[Layer]:
    yield layer
    for applied in layer.parts.values():
        yield from _layers(applied.layer)


def _names(layer: Layer) -> Iterator[str]:
    yield layer.name
    for name, applied in layer.parts.items():
        yield name
        yield from _names(applied.layer)


# --- a count as a term ----------------------------------------------------------------------------------------------


class SavedResidualCount(Count):
    """A count of the saved residuals of a layer, as an unevaluated term.

    The counts are "saved residual bytes", "saved residual numbers", "saved residual masks" and "saved residual
    statistics". `value()` is the expression in the sizes, computed from the equations. A number has 2 bytes and an
    entry of a mask 1; statistics are not counted.

    Units        bytes, or entries, as its name says
    Raises       ValueError for an unknown count, or a name in `recomputed` that no layer has
    """

    def __new__(
        cls, what: str | Str, layer: Layer, batch: Sized = 1, recomputed: Iterable[str | Str] = ()
    ) -> SavedResidualCount:
        """Build the term for a count of a layer by name, over `batch` examples, with some layers recomputed."""
        what = what if isinstance(what, Str) else Str(current(what))
        if what.name not in SAVED_RESIDUAL_COUNTS:
            known = ", ".join(SAVED_RESIDUAL_COUNTS)
            raise ValueError(f"there is no count called {what.name!r}; the counts are {known}")
        names = sorted({name if isinstance(name, Str) else Str(name) for name in recomputed}, key=str)
        return Expr.__new__(cls, what, layer, axis(batch), Sequence(*names))

    @property
    def recomputed(self) -> tuple[str, ...]:
        """The names of the recomputed parts and layers."""
        return tuple(name.name for name in self.args[3])

    def value(self) -> Expr:
        """Return the count computed from the equations."""
        saved = saved_residuals(self.layer, batch=self.batch, recomputed=self.recomputed)
        return SAVED_RESIDUAL_COUNTS[self.what](saved)

    def _sympystr(self, printer: StrPrinter) -> str:
        batch = "" if self.batch == 1 else f", batch = {self.batch}"
        again = f", recomputed = {', '.join(self.recomputed)}" if self.recomputed else ""
        return f"{self.what}({self.layer.name}{batch}{again})"

    def _latex(self, printer: Any) -> str:
        arguments = [
            printer.notation.function(self.layer.name),
            *([] if self.batch == 1 else [printer._print(self.batch)]),
        ]
        if self.recomputed:
            names = ", ".join(map(printer.notation.function, self.recomputed))
            arguments.append(rf"{printer.word('recomputed:')}\ {names}")
        return printer.applied(printer.count(self.what), arguments)


SAVED_RESIDUAL_COUNTS: dict[str, Callable[[SavedResiduals], Expr]] = {
    "saved residual bytes": lambda saved: saved.bytes(),
    "saved residual numbers": lambda saved: saved.numbers,
    "saved residual masks": lambda saved: saved.masks,
    "saved residual statistics": lambda saved: saved.statistics,
}


# --- the state of training ------------------------------------------------------------------------------------------


def training_state_bytes(parameters: Expr | int, *, mixed: bool = True, gradients: int | None = None) -> Expr:
    """Return the bytes of weights, gradients and the state of Adam for a number of parameters.

    Definition   mixed: a weight of 2 bytes, a gradient of 2 (or 4), and a copy of the weight and two moments of 4 each,
                 16 (or 18) bytes in all; otherwise a weight, a gradient and two moments of 4 bytes each, 16 in all
    Units        bytes
    Source       Rajbhandari, Rasley, Ruwase and He (2020), section 3.1; gradients of 4 bytes: Megatron Core
    Raises       ValueError for gradients of another size
    """
    # 12 = an FP32 copy of the weight and two moments of Adam; 8 = the moments, the weight being FP32 itself.
    weight, rest, sizes = (2, 12, (2, 4)) if mixed else (4, 8, (4,))
    gradients = sizes[0] if gradients is None else gradients
    if gradients not in sizes:
        words = "mixed" if mixed else "full"
        raise ValueError(f"in {words} precision a gradient has {' or '.join(map(str, sizes))} bytes, not {gradients}")
    return (weight + gradients + rest) * sympify(parameters)


def partitioned_state_bytes(parameters: Expr | int, devices: Expr | int, *, stage: int, gradients: int = 2) -> Expr:
    """Return the bytes of the state of mixed-precision training on each of several devices.

    Definition   stage 1 divides the optimiser's 12 bytes for each parameter among the devices, stage 2 the gradient
                 too, stage 3 also the weight; stage 0 nothing
    Units        bytes on each device
    Source       Rajbhandari, Rasley, Ruwase and He (2020), sections 5.1 to 5.3 and figure 1
    Raises       ValueError for another stage
    """
    if stage not in range(4):
        raise ValueError(f"the stages are 0, 1, 2 and 3, not {stage}")
    parts = (12, gradients, 2)
    divided, whole = sum(parts[:stage]), sum(parts[stage:])
    return (whole + sympify(divided) / devices) * sympify(parameters)
