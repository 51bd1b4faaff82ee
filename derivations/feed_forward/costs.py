r"""The cost of the feed-forward network: shapes, parameters, FLOPs, and its share of a layer.

Definition   H = X W_1 + b_1, G = activation(H), Y = G W_2 + b_2
Result       2 d_model d_ff + d_ff + d_model parameters; 4 n d_model d_ff FLOPs in the products
Shapes       X (n, d_model), W_1 (d_model, d_ff), b_1 (d_ff,), W_2 (d_ff, d_model), b_2 (d_model,), H and G (n, d_ff)
Units        parameters; FLOPs, one multiply-add being 2
Source       Vaswani et al. (2017), section 3.3
"""

from sympy import Integer, Rational

from derivations.attention.multi_head import multi_head_attention
from derivations.feed_forward.feed_forward import VASWANI, act, feed_forward
from derivations.language.arrays.expression import array
from derivations.language.counting.costs import Count
from derivations.language.layers.layer import Equation, Equations
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.linear.linear import linear
from derivations.symbols import batch, d_ff, d_model, h, index, n, scalar

__all__: list[str] = []

TOPIC = "feed_forward"

ratio = scalar("r", positive=True)
head_width = {"d_k": d_model / h, "d_v": d_model / h}  # h heads that share the width of the model


def of_a_batch(examples: int, positions: int, width: int, inner: int) -> tuple[Equation, ...]:
    """Return the equations of the network over a batch: the same weights for every example e."""
    e, inputs = index("e"), array("X", examples, positions, width)
    first, second = array("W_1", width, inner), array("W_2", inner, width)
    let = Equations()
    hidden_layer = let("H", over=(e, examples))(inputs[e] @ first + array("b_1", inner))
    active = let("G", over=(e, examples))(act(hidden_layer[e]))
    let("Y", over=(e, examples))(active[e] @ second + array("b_2", width))
    return tuple(let)


def shapes(examples: int, positions: int, width: int, inner: int) -> Derivation:
    """Return the result that states the shape of every array at given sizes."""
    e, before, within = index("e"), (examples, positions, width), (examples, positions, inner)
    inputs, hidden_layer, active = array("X", *before), array("H", *within), array("G", *within)
    first, second = array("W_1", width, inner), array("W_2", inner, width)
    text = " -> ".join(str(list(shape)) for shape in (before, within, within, before))
    return derivation(
        f"Shapes of the feed-forward network: ${text}$",
        claim(hidden_layer[e], step("definition", inputs[e] @ first + array("b_1", inner))),
        claim(active[e], step("definition", act(hidden_layer[e]))),
        claim(array("Y", *before)[e], step("definition", active[e] @ second + array("b_2", width))),
        about=of_a_batch(examples, positions, width, inner),
        ranges={e: Integer(examples)},
    )


@result
def shapes_512() -> Derivation:
    """One example of 10 positions, width 512 and 4 * 512 = 2048 hidden units."""
    return shapes(1, 10, 512, 4 * 512)


@result
def shapes_12288() -> Derivation:
    """1300 vectors of width 12288 and 4 * 12288 = 49152 hidden units."""
    return shapes(1, 1300, 12288, 4 * 12288)


@result
def parameters() -> Derivation:
    """Count two matrices and two biases."""
    return derivation(
        "Parameters of the feed-forward network",
        claim(Count("parameters", feed_forward()), step("count", 2 * d_model * d_ff + d_ff + d_model)),
        source=VASWANI,
    )


@result
def parameters_512() -> Derivation:
    """The base model: width 512, 2048 hidden units."""
    return derivation(
        "Parameters of the feed-forward network with $d_model = 512$ and $d_ff = 2048$",
        claim(
            Count("parameters", feed_forward().at(d_model=512, d_ff=2048)),
            step("count", 2099712),
        ),
        source=VASWANI,
    )


@result
def flops() -> Derivation:
    """A multiply-add is two FLOPs: 2 batch n d_model d_ff counts multiply-adds, or the FLOPs of one of two products."""
    products, network = 4 * batch * n * d_model * d_ff, feed_forward()
    one_product = Count("matmul FLOPs", linear().at(d_in=d_model, d_out=d_ff), batch)
    return derivation(
        "The products of the feed-forward network take $4 batch n d_model d_ff$ FLOPs, or half as many multiply-adds",
        claim(Count("matmul FLOPs", network, batch), step("count", products)),
        claim(
            Count("multiply-adds", network, batch),
            step("count", Count("matmul FLOPs", network, batch) / 2),
            step("count", 2 * batch * n * d_model * d_ff),
        ),
        claim(one_product, step("count", 2 * batch * n * d_model * d_ff)),
        claim(Count("FLOPs", network, batch), step("count", products + batch * n * (2 * d_ff + d_model))),
        source=VASWANI,
    )


@result
def expansion_ratio() -> Derivation:
    """Parameters and cost grow in proportion to r = d_ff / d_model. The network has r / (r + 2) of the weights."""
    network, attention = feed_forward().at(d_ff=ratio * d_model), multi_head_attention().at(**head_width)
    weights = Count("parameters", network) - (ratio + 1) * d_model
    return derivation(
        "With $d_ff = r d_model$: parameters, products per position, and the share of a layer's weights, biases "
        "left out",
        claim(Count("parameters", network), step("count", 2 * ratio * d_model**2 + (ratio + 1) * d_model)),
        claim(Count("matmul FLOPs", network.at(n=1)), step("count", 4 * ratio * d_model**2)),
        claim(Count("parameters", attention), step("count", 4 * d_model**2)),
        claim(
            weights / (weights + Count("parameters", attention)),
            step("count", 2 * ratio * d_model**2 / (2 * ratio * d_model**2 + 4 * d_model**2)),
            step("algebra", ratio / (ratio + 2)),
        ),
        source=VASWANI,
    )


@result
def expansion_ratio_4() -> Derivation:
    """With four times as many hidden units as features, the network has two thirds of the weights of a layer."""
    network, attention = feed_forward().at(d_ff=4 * d_model), multi_head_attention().at(**head_width)
    weights = Count("parameters", network) - 5 * d_model
    return derivation(
        "With $d_ff = 4 d_model$ the feed-forward network holds two thirds of a layer's weights, biases left out",
        claim(weights, step("count", 8 * d_model**2)),
        claim(weights / (weights + Count("parameters", attention)), step("count", Rational(2, 3))),
        source=VASWANI,
    )
