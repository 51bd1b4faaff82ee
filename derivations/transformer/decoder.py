r"""The decoder: a stack of layers of masked self-attention, cross-attention and a feed-forward network.

Definition   Y = LayerNorm(X + MultiHead(X, X, X; M)), Z = LayerNorm(Y + MultiHead(Y, memory, memory)),
             U = LayerNorm(Z + FFN(Z)); N such layers in sequence
Result       three sub-layers; under the causal mask position i does not depend on positions after i;
             4 h d_model (d_k + d_v) + 2 d_model d_ff + d_ff + 7 d_model parameters
Shapes       X, Y, Z, U (n, d_model), memory (m, d_model), M (n, n), weights of the cross-attention (n, m) in each head
Assumes      no biases in the attention; the norms follow the residual sums
Source       Vaswani et al. (2017), section 3.1
"""

from sympy import Eq, Expr, Lambda, Le, Sum, exp, sqrt

from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, array, mask_array
from derivations.language.arrays.functions import CausalMask, Named, relu
from derivations.language.arrays.scalars import Iverson
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.language.results.statements import Conformable
from derivations.normalisation.layer_norm import layer_norm
from derivations.symbols import N, d, d_ff, d_k, d_model, d_v, h, i, j, k, m, n

__all__ = ["decoder", "decoder_layer"]

VASWANI = "Vaswani et al. (2017), section 3.1"


@catalogued
def decoder_layer(*, masked_memory: bool = False, biases: bool = False, activation: Named = relu) -> Layer:
    """Return one post-norm decoder layer: three sub-layers, each with a residual connection and a layer norm.

    Definition   Y = LayerNorm(X + MultiHead(X, X, X; M)), Z = LayerNorm(Y + MultiHead(Y, memory, memory)),
                 U = LayerNorm(Z + FFN(Z))
    Shapes       X, Y, Z, U (n, d_model), memory (m, d_model), M (n, n), M_memory (n, m)
    Source       Vaswani et al. (2017), section 3.1
    """
    X, memory = array("X", n, d_model), array("memory", m, d_model)
    M, M_memory = mask_array("M", n, n), mask_array("M_memory", n, m)
    self_attention = part("self_attention", multi_head_attention(masked=True, biases=biases))
    cross_attention = part("cross_attention", multi_head_attention(masked=masked_memory, biases=biases))
    network = part("feed_forward", feed_forward(activation))

    let = Equations()
    A = let("A")(self_attention(X, X, X, M))
    Y = let("Y")(part("self_attention_norm", layer_norm())(X + A))
    C = let("C")(cross_attention(Y, memory, memory, *([M_memory] if masked_memory else [])))
    Z = let("Z")(part("cross_attention_norm", layer_norm())(Y + C))
    F = let("F")(network(Z))
    U = let("U")(part("feed_forward_norm", layer_norm())(Z + F))
    name = "masked_decoder_layer" if masked_memory else "decoder_layer"
    return Layer(name, (X, memory, M, *([M_memory] if masked_memory else [])), (), let, U)


@catalogued
def decoder(
    *, masked_memory: bool = False, biases: bool = False, activation: Named = relu, final_norm: bool = False
) -> Layer:
    """Return the stack of N decoder layers, with a last layer norm when `final_norm`.

    Definition   Z_0 = X, Z_l = DecoderLayer_l(Z_{l-1}, memory) for l = 1, ..., N
    Shapes       X and Z (n, d_model), memory (m, d_model), M (n, n), M_memory (n, m)
    Source       Vaswani et al. (2017), section 3.1
    """
    X, memory = array("X", n, d_model), array("memory", m, d_model)
    M, M_memory = mask_array("M", n, n), mask_array("M_memory", n, m)
    inputs = (X, memory, M, *([M_memory] if masked_memory else []))
    block = decoder_layer(masked_memory=masked_memory, biases=biases, activation=activation)
    let = Equations()
    Z = let("Z")(part("layers", block, count=N)(*inputs))
    if final_norm:
        Z = let("Y")(part("final_norm", layer_norm())(Z))
    return Layer("masked_decoder" if masked_memory else "decoder", inputs, (), let, Z)


X, Y, Z, A, C, F = (array(name, n, d_model) for name in ("X", "Y", "Z", "A", "C", "F"))
memory = array("memory", m, d_model)
self_attention = part("self_attention", multi_head_attention(masked=True))
cross_attention = part("cross_attention", multi_head_attention())
network = part("feed_forward", feed_forward())
first_norm, second_norm = part("self_attention_norm", layer_norm()), part("cross_attention_norm", layer_norm())
third_norm = part("feed_forward_norm", layer_norm())


def first_sub_layer(x: Array) -> Array:
    """Return LayerNorm(x + MultiHead(x, x, x; causal mask))."""
    return first_norm(x + self_attention(x, x, x, CausalMask(n)))


def second_sub_layer(y: Array) -> Array:
    """Return LayerNorm(y + MultiHead(y, memory, memory))."""
    return second_norm(y + cross_attention(y, memory, memory))


def third_sub_layer(z: Array) -> Array:
    """Return LayerNorm(z + FFN(z))."""
    return third_norm(z + network(z))


@result
def sub_layers() -> Derivation:
    """A decoder layer has three sub-layers, not two; each adds its own input to its output, then normalises."""
    layer, let = decoder_layer(), Equations()
    let("M")(CausalMask(n))
    return derivation(
        "A decoder layer has three sub-layers, each of the form $LayerNorm(x + F(x))$",
        claim(first_norm(X + A), step("definition", first_sub_layer(X))),
        claim(second_norm(Y + C), step("definition", second_sub_layer(Y))),
        claim(third_norm(Z + F), step("definition", third_sub_layer(Z))),
        about=(*let, *(layer.equation(name) for name in ("A", "C", "F"))),
        source=VASWANI,
    )


@result
def cross_attention_weights() -> Derivation:
    """The weights of the cross-attention: n queries from the decoder, m keys from the encoder output."""
    W_Q, W_K = array("W_Q", d_model, d_k), array("W_K", d_model, d_k)
    let = Equations()
    Q, K = let("Q")(Y @ W_Q), let("K")(memory @ W_K)
    weights = let("W")(scaled_dot_product_attention().until("A").result(Q, K, array("V", m, d_v)))
    score = exp((Q @ K.T)[i, j] / sqrt(d_k))
    return derivation(
        "The weights of a head of the cross-attention form an $n x m$ matrix whose rows sum to 1",
        claim(weights, step("definition", Tabulated(Lambda((i, j), score / Sum(score, (j, 0, m - 1))), n, m))),
        claim(Sum(weights[i, j], (j, 0, m - 1)), step("linearity of sums", 1)),
        about=tuple(let),
        ranges={i: n},
        source="Vaswani et al. (2017), section 3.2.3",
    )


@result
def memory_shapes() -> Derivation:
    """The decoder keeps the n positions of its input, for any number m of positions in the memory."""
    weights, V, own = array("W", n, m), array("V", m, d_v), array("V_target", n, d_v)
    combined = Sum(weights[i, j] * V[j, k], (j, 0, m - 1))
    return derivation(
        "Weights of shape $n x m$ take $m$ values and give $n$ rows; the $n$ values of the decoder itself fit "
        "only if $m = n$",
        claim(weights @ V, step("matrix product", Tabulated(Lambda((i, k), combined), n, d_v))),
        claim(Conformable(weights, own), step("shape", Eq(m, n), "iff")),
        source="Vaswani et al. (2017), section 3.2.3",
    )


@result
def causal() -> Derivation:
    """Row k of each sub-layer does not change when the rows after k are replaced by those of any other array."""
    seen, other = Iverson(Le(i, k, evaluate=False)), array("R", n, d_model)
    rows, let = (X, Y, Z), Equations()
    changed = [
        let(f"{x.name}_new")(Tabulated(Lambda((i, j), seen * x[i, j] + (1 - seen) * other[i, j]), n, d_model))
        for x in rows
    ]
    sub_layers = (first_sub_layer, second_sub_layer, third_sub_layer)
    return derivation(
        "Under the causal mask, row $k$ of each sub-layer of the decoder does not depend on rows after $k$ of "
        "its input",
        *(
            claim(apply(old)[k], step("indicator", apply(new)[k]))
            for apply, old, new in zip(sub_layers, rows, changed, strict=True)
        ),
        about=tuple(let),
        ranges={k: n},
        source="Vaswani et al. (2017), section 3.2.3",
    )


def counted(what: str) -> Expr:
    """Return a count of a decoder layer, as the sum of the counts of its parts."""
    norm, crossing = layer_norm().xreplace({d: d_model}), Count(what, multi_head_attention())
    itself = Count(what, multi_head_attention(masked=True).xreplace({m: n}))
    return itself + crossing + Count(what, feed_forward()) + 3 * Count(what, norm)


@result
def parameters() -> Derivation:
    """Count the weights of one decoder layer: two attentions, a feed-forward network, three norms."""
    return derivation(
        "Parameters of a decoder layer",
        claim(
            Count("parameters", decoder_layer()),
            step("count", counted("parameters")),
            step("count", 4 * h * d_model * (d_k + d_v) + 2 * d_model * d_ff + d_ff + 7 * d_model),
        ),
        source=VASWANI,
    )


@result
def flops() -> Derivation:
    """Count the FLOPs of the matrix products of one decoder layer, for n positions and m positions in the memory."""
    itself = 2 * n * h * (d_k + d_v) * (n + 2 * d_model)
    crossing = 2 * h * (d_k + d_v) * (n * d_model + m * d_model + n * m)
    return derivation(
        "FLOPs of the matrix products of a decoder layer, a multiply-add being 2",
        claim(
            Count("matmul FLOPs", decoder_layer()),
            step("count", counted("matmul FLOPs")),
            step("count", itself + crossing + 4 * n * d_model * d_ff),
        ),
        source="Vaswani et al. (2017), table 1",
    )
