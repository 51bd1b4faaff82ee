r"""The cost of h heads: their width, parameters and products.

Result       with d_k = d_v = d_model / h: 4 d_model^2 parameters, and the products of h heads cost as many FLOPs as
             those of one head of width d_model
Assumes      h divides d_model where d_k = d_v = d_model / h
Units        parameters; FLOPs, one multiply-add being 2
Source       Vaswani et al. (2017), section 3.2.2
"""

from sympy import Eq

from derivations.attention.multi_head import SECTION, concatenated, heads, multi_head_attention
from derivations.language.arrays.expression import array
from derivations.language.counting.costs import Count
from derivations.language.layers.layer import Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.results.statements import Conformable
from derivations.symbols import d_k, d_model, d_v, h, m, n

__all__: list[str] = []

TOPIC = "multi_head"

SHARED_WIDTH = (
    Assumption(Eq(d_k, d_model / h, evaluate=False), {}, "$h$ divides $d_model$"),
    Assumption(Eq(d_v, d_model / h, evaluate=False)),
)
BASE = (Assumption(Eq(d_model, 512)), Assumption(Eq(h, 8)))


def renamed(layer: Layer, name: str) -> Layer:
    """Return the same layer under another name."""
    return Layer(name, *layer.args[1:])


@result
def head_width() -> Derivation:
    """The width of a head in the base model: 512 / 8 = 64; the concatenation fits W^O when h d_v = d_model."""
    return derivation(
        "A head of the base model has width $d_model / h = 512 / 8 = 64$",
        claim(d_k, step("assumption", d_model / h), step("assumption", 64), given=(*SHARED_WIDTH, *BASE)),
        claim(h * d_v, step("assumption", d_model), step("assumption", 512), given=(*SHARED_WIDTH, *BASE)),
        claim(
            Conformable(concatenated, array("W", d_model, d_model)),
            step("shape", Eq(h * d_v, d_model), "iff"),
        ),
        source=SECTION,
    )


@result
def parameters() -> Derivation:
    """Four matrices of d_model^2 weights when the heads share the width of the model: 1,048,576 in the base model."""
    with_biases = renamed(multi_head_attention(biases=True), "biased_multi_head_attention")
    count = Count("parameters", heads)
    return derivation(
        "Parameters of multi-head attention: $4 d_model^2$ when $d_k = d_v = d_model / h$",
        claim(
            count,
            step("count", h * d_model * (2 * d_k + d_v) + h * d_v * d_model),
            step("algebra", 2 * h * d_model * (d_k + d_v)),
        ),
        claim(count, step("assumption", 4 * d_model**2), given=SHARED_WIDTH),
        claim(count, step("assumption", 1048576), given=(*SHARED_WIDTH, *BASE)),
        claim(
            Count("parameters", with_biases),
            step("count", count + h * (2 * d_k + d_v) + d_model),
        ),
        source=SECTION,
    )


@result
def one_head_cost() -> Derivation:
    """The products of a head of width d_model / h cost 1/h of those of a head of width d_model."""
    alone = heads.until("head").at(h=1)
    narrow = Count("matmul FLOPs", renamed(alone, "one_head"))
    wide = Count("matmul FLOPs", renamed(alone, "one_wide_head").xreplace({d_k: d_model, d_v: d_model}))
    return derivation(
        "The products of one head of width $d_model / h$ cost $1/h$ of those of one head of width $d_model$",
        claim(
            narrow,
            step("count", 2 * d_model * (n * d_k + m * d_k + m * d_v) + 2 * n * m * (d_k + d_v)),
            step("assumption", (2 * (n + 2 * m) * d_model**2 + 4 * n * m * d_model) / h),
            step("count", wide / h),
        ),
        assuming=SHARED_WIDTH,
        source=SECTION,
    )


@result
def cost_equals_one_head() -> Derivation:
    """Products cost the same in h heads as in one; softmax and scaling run h times, on n m scores each."""
    one = renamed(heads.at(h=1), "single_head_attention").xreplace({d_k: d_model, d_v: d_model})
    total, softmax, products = "FLOPs", "softmax FLOPs", "matmul FLOPs"
    return derivation(
        "The products of $h$ heads cost what those of one head of width $d_model$ cost; softmax costs $h$ times "
        "as much",
        claim(
            Count(products, heads),
            step("count", 2 * h * d_model * (n + m) * (d_k + d_v) + 2 * h * n * m * (d_k + d_v)),
            step("assumption", 4 * (n + m) * d_model**2 + 4 * n * m * d_model),
            step("count", Count(products, one)),
        ),
        claim(Count(softmax, heads), step("count", 5 * h * n * m), step("count", h * Count(softmax, one))),
        claim(Count(total, heads) - Count(total, one), step("assumption", 6 * (h - 1) * n * m)),
        assuming=SHARED_WIDTH,
        source=SECTION,
    )
