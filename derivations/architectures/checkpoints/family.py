"""The names of a family of checkpoints, and functions that build tables of names.

Definition   a table maps weights of the equations, such as `decoder.self_attention.W_Q`, to the tensors that store them
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

__all__ = [
    "Family",
    "Stored",
    "Table",
    "affine",
    "also",
    "attention",
    "fused",
    "gated",
    "head",
    "in_sections",
    "instead",
    "linear",
    "network",
    "norm",
    "table",
]

OLD_ENDINGS = {r"\.gamma$": ".weight", r"\.beta$": ".bias"}  # of norms, in early checkpoints


@dataclass(frozen=True)
class Stored:
    """The tensor that stores a weight, and its layout.

    `name` may contain {n}, the number of the layer, and {e}, the number of an expert. A fused tensor concatenates the
    weights `beside`, which include this one, over all heads or, when `by_head`, within each head or group; when
    `by_column`, the first columns of all come first, then the second ones. `sections`
    are concatenated in that order, and the weights of a section within each head; of several `parts` side by side each
    has its share of the heads. `added` is the number that is added
    to the stored weight to give the weight of the equations. A `stacked` tensor has the experts along its first axis.
    With `axes` a tensor has other axes than a matrix: "rows" of a table after axes of length 1, or the "pixels" or
    "taps" of a kernel after its outputs and inputs, of which taps stand before the inputs in the equations; a "flat"
    one is a vector or a number in the equations, whatever its axes; a stacked one of "experts" has their matrices one
    below the other. With `of_layers` one tensor has the columns of all layers side by side.
    """

    name: str
    as_written: bool = False
    beside: tuple[str, ...] = ()
    by_head: bool = False
    added: int = 0
    sections: tuple[tuple[str, ...], ...] = ()
    stacked: bool = False
    axes: Literal["", "rows", "pixels", "taps", "flat", "experts"] = ""
    by_column: bool = False
    parts: int = 1
    of_layers: bool = False


Table = Mapping[str, Stored]


@dataclass(frozen=True)
class Family:
    """The names of one family of checkpoints.

    The name of a tensor may start with one of `prefixes`. A name in `same` may replace the other one, or occur besides
    it with the same numbers, {n} being the number of a layer in both. Tensors in `zero` must be zeros, or may be
    missing where the equations have them, as zeros. Tensors whose
    whole name matches `ignored` (a regular expression) are skipped unless they are weights of the equations. A match of
    a key of `renamed` (a regular expression) in a name is replaced by its value.
    """

    weights: Table
    prefixes: tuple[str, ...] = ()
    same: Mapping[str, str] = field(default_factory=dict)
    zero: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=lambda: OLD_ENDINGS)


def also(family: Family, *tables: Table) -> Family:
    """Return a family with the names of further tables, which replace its own names or are added to them."""
    weights = dict(family.weights)
    for each in tables:
        weights |= each
    now = {before.name: weights[ours].name for ours, before in family.weights.items()}
    same = {name: now.get(other, other) for name, other in family.same.items()}
    return replace(family, weights=weights, same=same)


# --- pieces of tables -----------------------------------------------------------------------------------------------


def linear(ours: str, theirs: str, *, as_written: bool = False) -> Table:
    """Return the names of a matrix and its biases: W_1 and b_1 are `{theirs}.weight` and `{theirs}.bias`."""
    where, _, suffix = ours.rpartition("W_")
    return {ours: Stored(f"{theirs}.weight", as_written), f"{where}b_{suffix}": Stored(f"{theirs}.bias")}


def affine(ours: str, theirs: str) -> Table:
    """Return the names of the matrix W and the biases b of a part that is only an affine map."""
    return {f"{ours}.W": Stored(f"{theirs}.weight"), f"{ours}.b": Stored(f"{theirs}.bias")}


def fused(where: str, theirs: str, weights: str, *, by_head: bool = False, as_written: bool = False) -> Table:
    """Return the names of weights that one matrix stores side by side in the given order, and of their biases."""
    letters = weights.split()
    matrices, biases = (tuple(f"{kind}_{letter}" for letter in letters) for kind in ("W", "b"))
    return {
        **{f"{where}.{W}": Stored(f"{theirs}.weight", as_written, matrices, by_head) for W in matrices},
        **{f"{where}.{b}": Stored(f"{theirs}.bias", False, biases, by_head) for b in biases},
    }


def in_sections(where: str, theirs: str, *sections: str, parts: int = 1) -> Table:
    """Return the names of weights that one matrix stores in sections.

    Within each head a section has its weights side by side.

    Of several `parts` of the matrix each has the sections of its share of the heads.
    """
    table: dict[str, Stored] = {}
    for kind, ending in (("W", "weight"), ("b", "bias")):
        letters = tuple(tuple(f"{kind}_{letter}" for letter in section.split()) for section in sections)
        names = tuple(name for section in letters for name in section)
        stored = Stored(f"{theirs}.{ending}", False, names, sections=letters, parts=parts)
        table |= {f"{where}.{name}": stored for name in names}
    return table


def attention(where: str, query: str, key: str, value: str, output: str) -> Table:
    """Return the names of the four projections.

    Within each head, rotated columns come before the others.
    """
    table: dict[str, Stored] = {}
    for letter, theirs in zip("QKV", (query, key, value), strict=True):
        table.update(fused(where, theirs, f"{letter} {letter}_pass" if letter != "V" else "V", by_head=letter != "V"))
    return {**table, **linear(f"{where}.W_O", output)}


def network(where: str, first: str, second: str) -> Table:
    """Return the names of a feed-forward network of two matrices."""
    return {**linear(f"{where}.feed_forward.W_1", first), **linear(f"{where}.feed_forward.W_2", second)}


def gated(where: str, gate: str, up: str, down: str) -> Table:
    """Return the names of a gated feed-forward network."""
    return {
        **linear(f"{where}.W_gate", gate),
        **linear(f"{where}.W_up", up),
        **linear(f"{where}.W_down", down),
    }


def norm(ours: str, theirs: str, added: int = 0) -> Table:
    """Return the names of scale and shift of a norm.

    `added` is the number that is added to the stored scale.
    """
    return {f"{ours}.gamma": Stored(f"{theirs}.weight", added=added), f"{ours}.beta": Stored(f"{theirs}.bias")}


def table(ours: str, theirs: str) -> Table:
    """Return the name of a table of rows, which is stored as it is in the equations."""
    return {ours: Stored(theirs, as_written=True)}


def instead(usual: str, other: str) -> Mapping[str, str]:
    """Return other names under which the matrix and the biases of an affine map may be stored."""
    return {f"{other}.{each}": f"{usual}.{each}" for each in ("weight", "bias")}


def head(theirs: str = "lm_head") -> Table:
    """Return the names of the matrix and the biases that compute the scores of all tokens."""
    return {"W_head": Stored(f"{theirs}.weight"), "b_head": Stored(f"{theirs}.bias")}
