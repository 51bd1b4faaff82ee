"""Low-rank adapters: what is trained when the weights themselves are not.

Definition   a matrix of i inputs and o outputs gets two factors with r (i + o) entries; its own entries are frozen, so
             that they have no gradient and no state. `targets` are the matrices of attention, or all of the layers
Result       the adapted map, and when it pays: the results of the topic `low_rank_adaptation`
Units        parameters
Source       Hu et al. (2022), section 4; Dettmers, Pagnoni, Holtzman and Zettlemoyer (2023), for frozen NF4
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from derivations.costs.stored_bytes import Shares, is_of_experts, is_route, matrix_sides
from derivations.costs.weight_groups import Group
from derivations.language.arrays.shapes import axis, total
from derivations.symbols import size

__all__ = ["RANK", "TARGETS", "adapter_groups"]

RANK = size("rank")
TARGETS: Mapping[str, tuple[str, ...]] = {"attention": (".self_attention.", ".cross_attention."), "all": (".",)}


def adapter_groups(groups: tuple[Group, ...], targets: str, shares: Shares) -> Iterator[Group]:
    """Yield the groups of adapters for groups of weights: an A and a B for each matrix.

    Raises       ValueError for unknown targets
    """
    if targets not in TARGETS:
        raise ValueError(f"the targets {targets!r} of adapters are unknown; choose {', '.join(TARGETS)}")
    for group in groups:
        factors = {}
        for weight, shape in group.weights.items():
            kind = weight.rpartition(".")[2]
            inside = weight.startswith(("encoder.", "decoder.")) and kind.startswith("W") and not is_route(weight)
            if not inside or not any(target in weight for target in TARGETS[targets]):
                continue
            of_experts = is_of_experts(weight, shape)
            copies = (shape[0],) if of_experts else ()
            inputs, outputs = matrix_sides(weight, shape[1:] if of_experts else shape)
            each = dict(shares)
            lead = tuple(axis(total(one).xreplace(each)) for one in copies)
            factors[f"{weight}_A"] = (*lead, axis(inputs.xreplace(each)), RANK)
            factors[f"{weight}_B"] = (*lead, RANK, axis(outputs.xreplace(each)))
        if factors:
            yield Group(factors, group.copies, group.layers)
