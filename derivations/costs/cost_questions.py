r"""When attention overtakes the feed-forward network, where most parameters are, and what heads change.

Result       scores and weighted sums of an encoder layer cost n / d_ff times the products of its feed-forward network,
             all of attention (n + 2 d_model) / d_ff times: more for n > d_ff and n > d_ff - 2 d_model. N layers with
             d_ff = 4 d_model and one table of embeddings have 8 N d_model / (12 N d_model + vocab) of their weights in
             feed-forward networks: less than 2/3, and half of them at vocab = 4 N d_model
Assumes      heads of width d_k = d_v = d_model / h; as many keys as queries, all pairs counted
Units        FLOPs, one multiply-add being 2; parameters, without biases and norms where a result says so
Source       Vaswani et al. (2017), sections 3 and 4; Kaplan et al. (2020), table 1
"""

from sympy import Gt, Lt, Rational

from derivations.architectures.blocks import feed_forward_layer
from derivations.architectures.composition import build
from derivations.architectures.description import (
    Architecture,
    Attention,
    Block,
    Embedding,
    FeedForward,
    Head,
    Norm,
    Run,
    Stack,
)
from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.costs.parameters import HEADS, equal
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.counting.costs import Count
from derivations.language.counting.memory_counts import SavedResidualCount
from derivations.language.layers.layer import Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import N, d_ff, d_k, d_model, d_v, h, m, n, size, vocab

__all__ = ["decoder_only"]

VASWANI = "Vaswani et al. (2017), section 3"
KAPLAN = "Kaplan et al. (2020), table 1"
MATMUL, SOFTMAX = "matmul FLOPs", "softmax FLOPs"

c, p = size("c"), size("p")  # how many times as many heads; how many tokens more


def decoder_only() -> Layer:
    """Return a decoder of N pre-norm layers without biases, whose head is tied to the token table.

    Shapes       tokens (n,), logits (n, vocab)
    Source       Radford et al. (2019), section 2.3, without biases and learned positions
    """
    norm = Norm("rms")
    block = Block(Attention(h), FeedForward(biases=False), norm)
    stack = Stack((Run((block,), N),), Embedding(), causal=True, final_norm=norm)
    return build(Architecture("decoder_only", Head(), decoder=stack))


@result(topic="flops")
def attention_overtakes() -> Derivation:
    """Scores and weighted sums exceed the network for n > d_ff, all of attention for n > d_ff - 2 d_model."""
    alone = scaled_dot_product_attention().xreplace({m: n})
    pairs = h * Count(MATMUL, alone)
    attention, network = Count(MATMUL, multi_head_attention().xreplace({m: n})), Count(MATMUL, feed_forward())
    alone_share, share = n / d_ff, (n + 2 * d_model) / d_ff
    return derivation(
        "Scores and weighted sums cost $n / d_ff$ of the feed-forward network, all of attention $(n + 2 d_model) "
        "/ d_ff$",
        claim(pairs / network, step("assumption", alone_share)),
        claim(alone_share, step("bound", 1, ">", (n - d_ff) / d_ff), given=(Assumption(Gt(n, d_ff)),)),
        claim(alone_share, step("bound", 1, "<", (d_ff - n) / d_ff), given=(Assumption(Lt(n, d_ff)),)),
        claim(attention / network, step("assumption", share)),
        claim(
            share,
            step("bound", 1, ">", (n + 2 * d_model - d_ff) / d_ff),
            given=(Assumption(Gt(n + 2 * d_model, d_ff)),),
        ),
        assuming=HEADS,
        source=VASWANI,
    )


@result(topic="flops")
def heads_of_other_width() -> Derivation:
    """With c times as many heads, each 1/c as wide, softmax costs c times the FLOPs.

    Parameters and products stay the same, and more residuals are saved.
    """
    many, wide = (
        Layer(name, *decoder_only().xreplace(sizes).args[1:])
        for name, sizes in (("many_heads", {h: c * h}), ("wide_heads", {d_k: c * d_k, d_v: c * d_v}))
    )
    return derivation(
        "Heads $c$ times as many and as narrow: parameters and products stay, softmax takes $c$ times as many FLOPs",
        claim(Count("parameters", many), step("count", Count("parameters", wide))),
        claim(Count(MATMUL, many), step("count", Count(MATMUL, wide))),
        claim(Count(SOFTMAX, many), step("count", c * Count(SOFTMAX, wide))),
        claim(
            SavedResidualCount("saved residual numbers", many),
            step("count", SavedResidualCount("saved residual numbers", wide) + (c - 1) * N * h * n**2),
        ),
        source=VASWANI,
    )


@result(topic="parameters")
def most_in_networks() -> Derivation:
    """Feed-forward networks hold most weights of a decoder if 4 N d_model > vocab, but never two thirds."""
    model, network = decoder_only(), feed_forward_layer(FeedForward(biases=False))
    weights = Count("parameters", model) - (2 * N + 1) * d_model  # norms left out
    share = N * Count("parameters", network) / weights
    closed = 8 * N * d_model / (12 * N * d_model + vocab)
    large, small = Assumption(Lt(vocab, 4 * N * d_model)), equal(vocab, 4 * N * d_model + p)
    twice = 24 * N * d_model + 2 * vocab
    return derivation(
        "With $d_ff = 4 d_model$, feed-forward networks hold most weights of a decoder exactly when $4 N d_model "
        "> vocab$",
        claim(share, step("assumption", closed)),
        claim(closed, step("bound", Rational(2, 3), "<", 2 * vocab / (36 * N * d_model + 3 * vocab))),
        claim(closed, step("bound", Rational(1, 2), ">", (4 * N * d_model - vocab) / twice), given=(large,)),
        claim(
            closed,
            step("assumption", 8 * N * d_model / (16 * N * d_model + p)),
            step("bound", Rational(1, 2), "<", p / (32 * N * d_model + 2 * p)),
            given=(small,),
        ),
        claim(closed, step("assumption", Rational(1, 2)), given=(equal(vocab, 4 * N * d_model),)),
        assuming=(*HEADS, equal(d_ff, 4 * d_model)),
        source=KAPLAN,
    )
