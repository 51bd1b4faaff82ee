"""What optimisers keep for each weight, as formulas in its entries, rows and columns.

Definition   E entries in matrices of R rows and C columns. `matrices` are the bytes for a matrix, `others` those for a
             vector; `hidden` says that the first is for matrices inside the layers alone, tables and heads being others
Units        bytes
Source       each entry names its own
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sympy import Expr, Integer, ceiling

from derivations.costs.stored_bytes import Shares, divided, is_of_experts, is_route, matrix_sides
from derivations.costs.weight_groups import Group
from derivations.language.arrays.expression import Shape
from derivations.language.arrays.shapes import total
from derivations.symbols import size

__all__ = ["OPTIMISERS", "Optimiser", "optimiser_named", "state_bytes"]

E, R, C = size("E"), size("R"), size("C")
BLOCK = 2048  # entries that share a scale of 4 bytes


@dataclass(frozen=True)
class Optimiser:
    """An optimiser: the bytes of its state for a matrix, and for all else."""

    words: str
    matrices: Expr
    others: Expr
    source: str
    hidden: bool = False


_ADAM, _EIGHT_BITS = 2 * 4 * E, 2 * (E + 4 * ceiling(E / BLOCK))
_FACTORS = 4 * (E / R + E / C)

OPTIMISERS: Mapping[str, Optimiser] = {
    "adam": Optimiser("two moments in float32", _ADAM, _ADAM, "Kingma and Ba (2015), algorithm 1"),
    "adam-8bit": Optimiser(
        f"two moments of 8 bits, a scale in float32 for each block of {BLOCK:,}",
        _EIGHT_BITS,
        _EIGHT_BITS,
        "Dettmers, Lewis, Shleifer and Zettlemoyer (2022), section 2",
    ),
    "adafactor": Optimiser(
        "row and column sums of the second moment in float32, no first moment",
        _FACTORS,
        4 * E,
        "Shazeer and Stern (2018), algorithm 4",
    ),
    "muon": Optimiser(
        "a momentum in float32 for matrices inside the layers, Adam's two moments for all else",
        4 * E,
        _ADAM,
        "Jordan et al. (2024), Muon",
        hidden=True,
    ),
    "lion": Optimiser("a momentum in float32", 4 * E, 4 * E, "Chen et al. (2023), algorithm 2"),
    "sgd": Optimiser("nothing", Integer(0), Integer(0), "Robbins and Monro (1951)"),
}


def optimiser_named(name: str) -> Optimiser:
    """Return an optimiser by its name.

    Raises       LookupError with the names there are
    """
    if name not in OPTIMISERS:
        raise LookupError(f"there is no optimiser {name!r}; there are {', '.join(OPTIMISERS)}")
    return OPTIMISERS[name]


def state_bytes(optimiser: Optimiser, groups: tuple[Group, ...], shares: Shares) -> Expr:
    """Return the bytes of the state for the weights of some groups, on one device."""
    result = Integer(0)
    for group in groups:
        for weight, shape in group.weights.items():
            result += group.copies * _of_weight(optimiser, weight, shape, shares)
    return result


def _of_weight(optimiser: Optimiser, weight: str, shape: Shape, shares: Shares) -> Expr:
    entries = divided(weight, shape, shares)
    inside = weight.startswith(("encoder.", "decoder."))
    if len(shape) < 2 or (optimiser.hidden and not inside):
        return optimiser.others.xreplace({E: entries})
    of_experts = is_of_experts(weight, shape)
    rows, columns = matrix_sides(weight, shape[1:] if of_experts else shape)
    if not weight.rpartition(".")[2].startswith("W"):
        rows, columns = total(shape[0]), entries / total(shape[0])  # a table, or biases of several heads
    each = {} if is_route(weight) else dict(shares)
    return optimiser.matrices.xreplace({E: entries, R: rows.xreplace(each), C: columns.xreplace(each)})
