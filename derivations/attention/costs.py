r"""Attention, recurrence and convolution compared: FLOPs of a layer, and layers between two positions.

Result       products cost 4 n^2 d, 4 n d^2 and 2 w n d^2 FLOPs for n positions of width d and kernels of width w:
             attention costs least when n <= d and 2 n <= w d; it joins all positions, a convolution those of a window
Assumes      one head of width d, without projections; as many inputs as outputs in every layer; w - 1 rows of
             padding, so that a convolution has n windows
Units        FLOPs, one multiply-add being 2; without softmax, biases and activations
Source       Vaswani et al. (2017), section 4 and table 1

Two columns of the table do not follow from the equations of one layer, and are missing here: the number of sequential
operations (n in the recurrence, constant in the other two), and the t - s steps of the recurrence from s to t.
"""

from sympy import Derivative, KroneckerDelta, Le, Sum

from derivations.attention.attention import A, O, V, attention, c
from derivations.language.arrays.expression import array
from derivations.language.counting.costs import Count
from derivations.language.layers.layer import Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.linear.convolution import convolution, convolution_layer, width
from derivations.linear.recurrent import recurrent_step
from derivations.symbols import d, d_in, d_k, d_out, d_v, i, index, j, k, l, m, n

__all__: list[str] = []

TOPIC = "attention"

TABLE = "Vaswani et al. (2017), table 1"
EQUAL_SIZES = {m: n, d_in: d, d_out: d, d_k: d, d_v: d}  # n positions of width d, for inputs and outputs
p = index("p")  # a column of V


def products(layer: Layer) -> Count:
    """Return the FLOPs of the matrix products of a layer over n positions of width d."""
    return Count("matmul FLOPs", layer.xreplace(EQUAL_SIZES))


@result
def complexity() -> Derivation:
    """Attention is quadratic in the positions and linear in the width; for the other two it is the reverse."""
    of_attention, of_recurrence = products(attention), n * products(recurrent_step())
    of_convolution = products(convolution_layer().xreplace({n: n + width - 1}))  # n windows
    short = Assumption(Le(n, d), {}, "there are no more positions than columns")
    wide = Assumption(Le(2 * n, width * d), {}, "the kernel is wide enough")
    return derivation(
        "FLOPs of a layer in products: attention $4 n^2 d$, $n$ recurrent steps $4 n d^2$, a convolution $2 w n d^2$",
        claim(of_attention, step("count", 4 * n**2 * d)),
        claim(of_recurrence, step("count", 4 * n * d**2)),
        claim(of_convolution, step("count", 2 * width * n * d**2)),
        claim(of_attention, step("bound", of_recurrence, "<=", 4 * n * d * (d - n)), given=(short,)),
        claim(of_attention, step("bound", of_convolution, "<=", 2 * n * d * (width * d - 2 * n)), given=(wide,)),
        source=TABLE,
    )


@result
def decoding_cost() -> Derivation:
    """With a cache, a step that reads m keys costs 2 m (d_k + d_v). All n steps cost about half of attention at once.

    Attention over all positions at once also computes the products of hidden keys, which are the other half.
    """
    steps = Sum(2 * (j + 1) * (d_k + d_v), (j, 0, n - 1))
    at_once = Count("matmul FLOPs", attention.xreplace({m: n}))
    return derivation(
        "FLOPs in products of $n$ positions, one after the other with a cache: $(n + 1) / (2 n)$ of those at once",
        claim(Count("matmul FLOPs", attention.at(n=1)), step("count", 2 * m * (d_k + d_v))),
        claim(steps, step("linearity of sums", n * (n + 1) * (d_k + d_v)), step("count", (n + 1) / (2 * n) * at_once)),
        source="Shazeer (2019), section 2.4",
    )


@result
def path_length() -> Derivation:
    """In one layer of attention every output reads every value, with positive weight; a convolution reads a window.

    An output of a convolution has a derivative by position s only when s = i + t with t = 0, ..., w - 1, so that to
    connect two positions n - 1 apart takes at least (n - 1) / (w - 1) layers; attention needs one.
    """
    sequence, kernel, bias = array("X", n, d_in), array("F", width, d_in, d_out), array("b", d_out)
    output, place, t = index("r"), index("s"), index("t")
    window = Sum(KroneckerDelta(output + t, place) * kernel[t, k, l], (t, 0, width - 1))
    return derivation(
        "Attention joins any two positions in one layer, a convolution positions less than $w$ apart",
        claim(Derivative(O[i, c], V[j, p]), step("derivative", A[i, j] * KroneckerDelta(c, p))),
        claim(A[i, j], step("bound", 0, ">")),
        claim(
            Derivative(convolution(sequence, kernel, bias).entry(output, l), sequence[place, k]),
            step("derivative", window),
        ),
        about=attention,
        ranges={i: n, j: m, c: d_v, p: d_v, output: n - width + 1, place: n, k: d_in, l: d_out},
        source=TABLE,
    )
