"""Operations of a layer computed from its equations: a forward pass, a training step, one step of decoding.

Each function takes a `Convention` and stores it in the result. Counts are separate for each kind of operation and each
part; their sum is the total.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from sympy import Expr, Integer, Symbol

from derivations.language.arrays.functions import RowSoftmax
from derivations.language.arrays.shapes import Sized, axis, total
from derivations.language.counting.convention import CONVENTION, Convention
from derivations.language.counting.flop_passes import Parts, add_part, backward_parts, forward_parts, nodes_of
from derivations.language.counting.mask_sparsity import Known, sparsity_of_layer
from derivations.language.counting.operations import Flops
from derivations.language.layers.layer import Apply, Layer, require_layer

__all__ = ["count_decode_flops", "count_flops", "count_training_flops", "flops_by_part"]


def count_flops(layer: Layer, batch: Sized = 1, convention: Convention = CONVENTION) -> Flops:
    """Return the operations of one forward pass of a layer over `batch` examples, as expressions in its sizes.

    Definition   the operations of its equations, one rule for each kind of node, under a convention
    Assumes      a value that depends on no input is computed once for the whole batch; the first layer of a repetition
                 is counted like the others
    Units        FLOPs or multiply-adds, as the convention says
    Source       softmax at 5 operations an entry: Clark, Luong, Le and Manning (2020), ELECTRA, the counting code
    Raises       TypeError for a node or a formula that no rule counts; ShapeError for a batch that is not a size
    """
    inputs = frozenset(require_layer(layer).inputs)
    return _together(forward_parts(layer, inputs, Known(), total(axis(batch)), convention), convention)


def count_training_flops(
    layer: Layer, batch: Sized = 1, convention: Convention = CONVENTION, recomputed: Iterable[str] = ()
) -> Flops:
    """Return the operations of a forward pass and its backward pass.

    Definition   `count_flops`, and the equations that `gradient` adds: for the gradients for all parameters, including
                 those of parts, and for the inputs of the layer if the convention includes them. A part or layer named
                 in `recomputed` is computed a second time, completely, before its backward pass: activation
                 checkpointing as in `saved_residuals`
    Assumes      as `count_flops`; summing the gradients of several examples costs nothing
    Units        FLOPs or multiply-adds, as the convention says
    Source       recomputation: Chen, Xu, Zhang and Guestrin (2016), section 3
    Raises       GradientError for a node without a rule; TypeError and ShapeError as `count_flops`
    """
    return _together(_training(layer, total(axis(batch)), convention, recomputed), convention)


def count_decode_flops(
    layer: Layer, size: Symbol | str, batch: Sized = 1, convention: Convention = CONVENTION
) -> Flops:
    """Return the operations of one step of decoding: the next position after `size` positions in the cache.

    Definition   forward(n + 1) - forward(n), where n is the size and hidden pairs are not counted (causal =
                 "visible"): under a causal mask the rows of earlier positions do not change, and values that do not
                 depend on n, such as an encoder and the keys and values of its output, were computed before
    Assumes      positions interact only in masked softmax; norms and feed-forward networks act on each position alone
    Units        FLOPs or multiply-adds, as the convention says, exact as a difference of polynomials in n
    Raises       ValueError for a layer without that size, or a layer in which a position sees later ones
    """
    named = {s.name: s for s in layer.sizes}
    n = named.get(str(size))
    if n is None:
        raise ValueError(f"layer {layer.name} has no size {size} that grows in decoding; it has {', '.join(named)}")
    # otherwise the new position would change earlier rows, and the difference would not be one step
    later = _seeing_later(layer, Known(), n)
    if later is not None:
        raise ValueError(f"decoding: in {later} a position sees later ones; give that layer a causal mask")
    whole = count_flops(layer, batch, replace(convention, causal="visible"))
    # earlier rows do not change under a causal mask, so the difference is what position n + 1 adds
    return whole.xreplace({n: n + 1}) - whole


def flops_by_part(
    layer: Layer,
    batch: Sized = 1,
    convention: Convention = CONVENTION,
    *,
    depth: int | None = None,
    training: bool = False,
    recomputed: Iterable[str] = (),
) -> dict[str, Flops]:
    """Return the operations of a forward pass, or of a training step, by the dotted name of the part that does them.

    Definition   a part counts without its inner parts, which have separate entries; "" is the entry of the layer's
                 own equations. Parts more than `depth` names deep count with the part that contains them. A part
                 applied twice under one name, or repeated, counts for all its uses; parts without operations are
                 omitted
    Units        as `count_flops` or `count_training_flops`, to which the values add up
    Raises       ValueError for a negative depth, and the errors of `count_flops` or `count_training_flops`
    """
    if depth is not None and depth < 0:
        raise ValueError(f"flops_by_part: depth is {depth}; give 0 for the layer as a whole, 1 for its parts, or None")
    size = total(axis(batch))
    counted = (
        _training(layer, size, convention, recomputed)
        if training
        else forward_parts(layer, frozenset(layer.inputs), Known(), size, convention)
    )
    parts: dict[str, Flops] = {}
    for path, flops in counted.items():
        add_part(parts, ".".join(path.split(".")[:depth]) if path else "", replace(flops, convention=convention))
    return {path: flops for path, flops in parts.items() if flops.total != 0}


def _training(layer: Layer, batch: Expr, convention: Convention, recomputed: Iterable[str]) -> Parts:
    forward = forward_parts(layer, frozenset(layer.inputs), Known(), batch, convention)
    again = tuple(_paths_of(layer, frozenset(recomputed)))
    # A recomputed part runs its forward pass a second time.
    parts = {path: flops.times(Integer(2)) if _is_inside(path, again) else flops for path, flops in forward.items()}
    inputs = layer.inputs if convention.input_gradient else ()
    wanted = frozenset(v.name for v in (*inputs, *layer.parameters) if v.kind == "real")
    for path, flops in backward_parts(layer, wanted, Known(), batch, convention).items():
        add_part(parts, path, flops)
    return parts


def _paths_of(layer: Layer, names: frozenset[str], path: str = "") -> Iterator[str]:
    """Yield the dotted names of the parts whose own name or layer name is in `names`, and "" for the whole layer."""
    if layer.name in names:
        yield path
        return
    for name, applied in layer.parts.items():
        inner = f"{path}.{name}" if path else name
        yield from [inner] if name in names else _paths_of(applied.layer, names, inner)


def _is_inside(path: str, parts: Iterable[str]) -> bool:
    return any(not part or path == part or path.startswith(f"{part}.") for part in parts)


def _together(parts: Parts, convention: Convention) -> Flops:
    return replace(sum(parts.values(), Flops()), convention=convention)


# --- decoding -------------------------------------------------------------------------------------------------------


def _seeing_later(layer: Layer, known: Known, n: Symbol) -> str | None:
    """Return the name of a layer whose softmax lets one of n positions see later ones, or None."""
    sparsity = sparsity_of_layer(layer, known)
    for node in chain.from_iterable(nodes_of(equation.value) for equation in layer.equations):
        if isinstance(node, Apply):
            inside = _seeing_later(node.layer, sparsity.known(node, None), n)
            if inside is not None:
                return inside
        # scores of n queries against an encoder's keys have only one axis of positions
        among_themselves = isinstance(node, RowSoftmax) and all(n in total(a).free_symbols for a in node.shape)
        if among_themselves and len(node.shape) == 2 and sparsity.of_softmax(node) is None:
            return layer.name
    return None
