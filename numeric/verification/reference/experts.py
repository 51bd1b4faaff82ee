r"""A mixture of experts, position by position: the scores, the K largest one after the other, their networks.

Definition   scores p = softmax(x W_router);  chosen: the K experts with the largest scores, of equal ones the first;
             y = sum over the chosen e of p_e / (sum over the chosen of p) (silu(x W_gate_e) o x W_up_e) W_down_e
             plus the gated network of the shared experts, if any, times sigmoid(x . W_shared_gate) if it has a gate
             with groups: chosen are the K largest of the K_G groups of experts whose 2 (or so many as are told) largest
             scores have the largest sums
Source       Jiang et al. (2024), section 2.1; Dai et al. (2024), section 3; DeepSeek-AI (2024), DeepSeek-V3, 2.1.2
"""

from collections.abc import Iterable, Mapping, Sequence

from mpmath import mp, mpf

from numeric.verification.reference.attention import softmax
from numeric.verification.reference.position_wise import gated_feed_forward, linear
from numeric.verification.reference.registry import loops_of
from numeric.verification.reference.scalars import Array, Matrix, at_fifty_digits, read

__all__ = ["mixture_of_experts"]


@loops_of("mixture_within_groups", best_of_group=2, sigmoid=True)
@loops_of("mixture_of_experts", "mixture_with_shared_experts")
@at_fifty_digits
def mixture_of_experts(
    X: Array,
    W_router: Array,
    W_gate: Array,
    W_up: Array,
    W_down: Array,
    K: int,
    shared_experts: Mapping[str, Array] | None = None,
    W_shared_gate: Array | None = None,
    b: Array | None = None,
    N_G: int = 1,
    K_G: int = 1,
    *,
    normalised: bool = True,
    sigmoid: bool = False,
    best_of_group: int = 0,
) -> Matrix:
    """Return the weighted sum of K of E gated networks for every row; the weights sum to 1 if `normalised`.

    Shapes       X (n, d_model), W_router (d_model, E), W_gate and W_up (E, d_model, d_expert),
                 W_down (E, d_expert, d_model), W_shared_gate (d_model,), b (E,) -> Y (n, d_model)
    Raises       ValueError where shapes disagree, K is not in 1, ..., E, or the kept groups have fewer experts
    """
    X, W_router, W_gate, W_up, W_down, W_shared_gate, b = read(
        "mixture_of_experts",
        X=(X, "n d_model"), W_router=(W_router, "d_model E"), W_gate=(W_gate, "E d_model d_expert"),
        W_up=(W_up, "E d_model d_expert"), W_down=(W_down, "E d_expert d_model"),
        W_shared_gate=(W_shared_gate, "d_model"), b=(b, "E"),
    )  # fmt: skip
    if not 1 <= K <= len(W_gate):
        raise ValueError(f"mixture_of_experts: {K} of {len(W_gate)} experts; pass K from 1 to {len(W_gate)}.")
    Y = []
    for x, logits in zip(X, linear(X, W_router), strict=True):
        scores = [1 / (1 + mp.exp(-logit)) for logit in logits] if sigmoid else softmax(logits)
        corrected = scores if b is None else [p + shift for p, shift in zip(scores, b, strict=True)]
        among = _of_best_groups(corrected, N_G, K_G, best_of_group) if best_of_group else range(len(scores))
        chosen = _largest(corrected, among, K)
        whole = sum(scores[e] for e in chosen) if normalised else mp.one
        y = [mp.zero] * len(x)
        for e in chosen:
            [network] = gated_feed_forward([x], W_gate[e], W_up[e], W_down[e])
            y = [a + scores[e] / whole * b for a, b in zip(y, network, strict=True)]
        if shared_experts is not None:
            [network] = gated_feed_forward([x], **shared_experts)
            weight = mp.one
            if W_shared_gate is not None:
                weight = 1 / (1 + mp.exp(-sum(a * b for a, b in zip(x, W_shared_gate, strict=True))))
            y = [a + weight * b for a, b in zip(y, network, strict=True)]
        Y.append(y)
    return Y


def _largest(scores: Sequence[mpf], among: Iterable[int], count: int) -> list[int]:
    """Return the places of the largest scores, one after the other, of equal ones the first."""
    left, found = list(among), []
    if count > len(left):
        raise ValueError(f"mixture_of_experts: {count} of {len(left)} scores; give more, or ask for fewer.")
    for _ in range(count):
        found.append(max(left, key=scores.__getitem__))  # max returns the first of equal scores
        left.remove(found[-1])
    return found


def _of_best_groups(scores: Sequence[mpf], groups: int, kept: int, best: int) -> list[int]:
    """Return the experts of the groups whose `best` largest scores have the largest sums."""
    members: list[list[int]] = [[] for _ in range(groups)]
    for e in range(len(scores)):
        members[e * groups // len(scores)].append(e)
    sums = [sum(scores[e] for e in _largest(scores, group, best)) for group in members]
    return [e for group in _largest(sums, range(groups), kept) for e in members[group]]
