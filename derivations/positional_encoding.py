r"""Sinusoidal positional encoding: a rotation for every offset.

Definition   PE(pos, 2i) = sin(pos w_i), PE(pos, 2i+1) = cos(pos w_i), with w_i = 10000^(-2i/d_model)
Result       going from pos to pos + k turns every pair (sine, cosine) by the angle k w_i, whatever pos is;
             PE_p . PE_q = sum_i cos((p - q) w_i)
Shapes       PE (n, d_model), angles (n, d_model/2)
Assumes      d_model even; positions and the number i of a pair count from 0, i < d_model/2
Source       Vaswani et al. (2017), section 3.5
"""

from sympy import Eq, Expr, Integer, Lambda, Mod, Sum, cos, sin

from derivations.language.arrangements import Tabulated
from derivations.language.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.expression import array
from derivations.language.functions import Interleave, named
from derivations.language.layer import Equations, Layer
from derivations.symbols import d_model, i, index, k, n, pos, scalar

__all__ = ["positional_encoding"]

VASWANI = "Vaswani et al. (2017), section 3.5"
x, p, q = scalar("x"), index("p"), index("q")
sine, cosine = named("sin", sin(x), x), named("cos", cos(x), x)
PE = array("PE", n, d_model)
EVEN = Assumption(Eq(Mod(d_model, 2), 0, evaluate=False))


def frequency(pair: Expr, width: Expr = d_model) -> Expr:
    """Return w_i = 10000^(-2i/width)."""
    return 1 / Integer(10000) ** (2 * pair / width)


def positional_encoding(positions: Expr = n, width: Expr = d_model) -> Layer:
    """Return the sinusoidal positional encoding.

    Definition   PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model))
    Shapes       angle (n, d_model/2), PE (n, d_model)
    Assumes      d_model even; pos = 0, ..., n-1; i = 0, ..., d_model/2 - 1 numbers the pairs
    Source       Vaswani et al. (2017), section 3.5
    """
    let = Equations()
    angle = let("angle")(Tabulated(Lambda((pos, i), pos * frequency(i, width)), positions, width / 2))
    output = let("PE")(Interleave(sine(angle), cosine(angle)))
    return Layer("positional_encoding", (), (), let, output)


def pairs(of: Expr) -> Expr:
    """Return the sum of an expression in i over the d_model/2 pairs of columns."""
    return Sum(of, (i, 0, d_model / 2 - 1))


def rotated(offset: Expr) -> tuple[Expr, Expr]:
    """Return the pair (sine, cosine) at `pos`, turned by the angle offset * w_i."""
    angle = offset * frequency(i)
    even, odd = PE[pos, 2 * i], PE[pos, 2 * i + 1]
    return cos(angle) * even + sin(angle) * odd, -sin(angle) * even + cos(angle) * odd


@result
def definition() -> Derivation:
    """Even columns are sines, odd columns cosines; both of a pair have the exponent 2i."""
    return derivation(
        "Definition of the sinusoidal positional encoding",
        claim(PE[pos, 2 * i], step("definition", sin(pos / Integer(10000) ** (2 * i / d_model)))),
        claim(PE[pos, 2 * i + 1], step("definition", cos(pos / Integer(10000) ** (2 * i / d_model)))),
        about=positional_encoding(),
        assuming=[EVEN],
        ranges={pos: n, i: d_model / 2},
        source=VASWANI,
    )


@result
def relative_shift() -> Derivation:
    """From pos to pos + k every pair turns by the angle k w_i, in which pos does not occur."""
    w = frequency(i)
    even, odd = rotated(k)
    return derivation(
        "Moving on by k positions rotates every pair (sine, cosine) by an angle that depends on the offset k alone",
        claim(
            PE[pos + k, 2 * i],
            step("definition", sin(pos * w + k * w)),
            step("angle addition", cos(k * w) * sin(pos * w) + sin(k * w) * cos(pos * w)),
            step("definition", even),
        ),
        claim(
            PE[pos + k, 2 * i + 1],
            step("definition", cos(pos * w + k * w)),
            step("angle addition", -sin(k * w) * sin(pos * w) + cos(k * w) * cos(pos * w)),
            step("definition", odd),
        ),
        claim(cos(k * w) ** 2 + sin(k * w) ** 2, step("Pythagoras", 1)),
        about=positional_encoding(),
        assuming=[EVEN],
        ranges={k: n, pos: n - k, i: d_model / 2},
        source=VASWANI,
    )


@result
def dot_product() -> Derivation:
    """How alike two positions look depends on how far apart they are, not on where."""
    w = frequency(i)
    return derivation(
        "The dot product of two rows of the encoding is a sum of d/2 cosines of the offset",
        claim(
            pairs(PE[p, 2 * i] * PE[q, 2 * i] + PE[p, 2 * i + 1] * PE[q, 2 * i + 1]),
            step("definition", pairs(sin(p * w) * sin(q * w) + cos(p * w) * cos(q * w))),
            step("angle addition", pairs(cos((p - q) * w))),
        ),
        about=positional_encoding(),
        assuming=[EVEN],
        ranges={p: n, q: n},
        source=VASWANI,
    )


@result
def norm() -> Derivation:
    """All rows are equally long."""
    return derivation(
        "Every row of the encoding has squared length d/2",
        claim(
            pairs(PE[p, 2 * i] ** 2 + PE[p, 2 * i + 1] ** 2),
            step("Pythagoras", pairs(Integer(1))),
            step("constant summand", d_model / 2),
        ),
        about=positional_encoding(),
        assuming=[EVEN],
        ranges={p: n},
        source=VASWANI,
    )


@result
def distance() -> Derivation:
    """Squared distances, too, depend on the offset alone."""
    w = frequency(i)
    return derivation(
        "The squared distance of two rows of the encoding depends on the offset alone",
        claim(
            pairs((PE[p, 2 * i] - PE[q, 2 * i]) ** 2 + (PE[p, 2 * i + 1] - PE[q, 2 * i + 1]) ** 2),
            step("Pythagoras", pairs(2 - 2 * cos((p - q) * w))),
            step("angle addition", pairs(4 * sin((p - q) * w / 2) ** 2)),
        ),
        about=positional_encoding(),
        assuming=[EVEN],
        ranges={p: n, q: n},
        source=VASWANI,
    )
