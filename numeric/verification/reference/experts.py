r"""A mixture of experts, position by position: the scores, the K largest one after the other, their networks.

Definition   scores p = softmax(x W_router);  chosen: the K experts with the largest scores, of equal ones the first;
             y = sum over the chosen e of p_e / (sum over the chosen of p) (silu(x W_gate_e) o x W_up_e) W_down_e
             plus the gated network of the shared experts, if any, times sigmoid(x . W_shared_gate) if it has a gate
Source       Jiang et al. (2024), section 2.1; Dai et al. (2024), section 3
"""

from collections.abc import Mapping

from mpmath import mp

from numeric.verification.reference.attention import softmax
from numeric.verification.reference.position_wise import gated_feed_forward, linear
from numeric.verification.reference.registry import loops_of
from numeric.verification.reference.scalars import Array, Matrix, at_fifty_digits, read

__all__ = ["mixture_of_experts"]


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
    *,
    normalised: bool = True,
) -> Matrix:
    """Return the weighted sum of K of E gated networks for every row; the weights sum to 1 if `normalised`.

    Shapes       X (n, d_model), W_router (d_model, E), W_gate and W_up (E, d_model, d_expert),
                 W_down (E, d_expert, d_model), W_shared_gate (d_model,) -> Y (n, d_model)
    Raises       ValueError where shapes disagree, or K is not in 1, ..., E
    """
    X, W_router, W_gate, W_up, W_down, W_shared_gate = read(
        "mixture_of_experts",
        X=(X, "n d_model"), W_router=(W_router, "d_model E"), W_gate=(W_gate, "E d_model d_expert"),
        W_up=(W_up, "E d_model d_expert"), W_down=(W_down, "E d_expert d_model"),
        W_shared_gate=(W_shared_gate, "d_model"),
    )  # fmt: skip
    if not 1 <= K <= len(W_gate):
        raise ValueError(f"mixture_of_experts: {K} of {len(W_gate)} experts; pass K from 1 to {len(W_gate)}.")
    Y = []
    for x, logits in zip(X, linear(X, W_router), strict=True):
        scores, chosen = softmax(logits), []
        for _ in range(K):
            # max returns the first of equal scores
            chosen.append(max((e for e in range(len(scores)) if e not in chosen), key=scores.__getitem__))
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
