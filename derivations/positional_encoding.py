r"""Sinusoidal positional encoding: a rotation for every offset.

Definition   PE(pos, 2i) = sin(pos w_i), PE(pos, 2i+1) = cos(pos w_i), with w_i = 10000^(-2i/d_model)
Result       going from pos to pos + k turns every pair (sine, cosine) by the angle k w_i, whatever pos is;
             PE_p . PE_q = sum_i cos((p - q) w_i)
Shapes       PE (n, d_model), angles (n, d_model/2)
Assumes      d_model even; positions and the number i of a pair count from 0, i < d_model/2
Source       Vaswani et al. (2017), section 3.5
"""

from sympy import Expr, Integer, Lambda, Sum, cos, sin

from derivations.language.derivation import Derivation, claim, derivation, result, step
from derivations.language.expression import Tabulated, array
from derivations.language.functions import Interleave, named
from derivations.language.layer import Equation, Equations, Layer, part
from derivations.symbols import d_model, i, index, k, n, pos, scalar

__all__ = ["positional_encoding"]

VASWANI = "Vaswani et al. (2017), section 3.5"
x, p, q = scalar("x"), index("p"), index("q")
sine, cosine = named("sin", sin(x), x), named("cos", cos(x), x)
S, C = array("S", n, d_model / 2), array("C", n, d_model / 2)


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
    PE = let("PE")(Interleave(sine(angle), cosine(angle)))
    return Layer("positional_encoding", (), (), let, PE)


def columns() -> tuple[Equation, ...]:
    """Return the equations that name the columns: the even ones S, the odd ones C."""
    let = Equations()
    let("S")(sine(Tabulated(Lambda((pos, i), pos * frequency(i)), n, d_model / 2)))
    let("C")(cosine(Tabulated(Lambda((pos, i), pos * frequency(i)), n, d_model / 2)))
    return tuple(let)


def pairs(of: Expr) -> Expr:
    """Return the sum of an expression in i over the d_model/2 pairs of columns."""
    return Sum(of, (i, 0, d_model / 2 - 1))


encoding = part("positions", positional_encoding())()


@result
def definition() -> Derivation:
    """Even columns are sines, odd columns cosines; both of a pair have the exponent 2i."""
    return derivation(
        "Definition of the sinusoidal positional encoding: even columns S, odd columns C",
        claim(encoding, step("definition", Interleave(S, C))),
        claim(S[pos, i], step("definition", sin(pos / Integer(10000) ** (2 * i / d_model)))),
        claim(C[pos, i], step("definition", cos(pos / Integer(10000) ** (2 * i / d_model)))),
        about=columns(),
        ranges={pos: n, i: d_model / 2},
        source=VASWANI,
    )


@result
def relative_shift() -> Derivation:
    """From pos to pos + k every pair turns by the angle k w_i, in which pos does not occur."""
    w = frequency(i)
    return derivation(
        "Moving on by k positions rotates every pair (S, C) by an angle that depends on the offset k alone",
        claim(
            S[pos + k, i],
            step("definition", sin(pos * w + k * w)),
            step("angle addition", cos(k * w) * sin(pos * w) + sin(k * w) * cos(pos * w)),
            step("definition", cos(k * w) * S[pos, i] + sin(k * w) * C[pos, i]),
        ),
        claim(
            C[pos + k, i],
            step("definition", cos(pos * w + k * w)),
            step("angle addition", -sin(k * w) * sin(pos * w) + cos(k * w) * cos(pos * w)),
            step("definition", -sin(k * w) * S[pos, i] + cos(k * w) * C[pos, i]),
        ),
        claim(cos(k * w) ** 2 + sin(k * w) ** 2, step("Pythagoras", 1)),
        about=columns(),
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
            pairs(S[p, i] * S[q, i] + C[p, i] * C[q, i]),
            step("definition", pairs(sin(p * w) * sin(q * w) + cos(p * w) * cos(q * w))),
            step("angle addition", pairs(cos((p - q) * w))),
        ),
        about=columns(),
        ranges={p: n, q: n},
        source=VASWANI,
    )


@result
def norm() -> Derivation:
    """All rows are equally long."""
    return derivation(
        "Every row of the encoding has squared length d/2",
        claim(
            pairs(S[p, i] ** 2 + C[p, i] ** 2),
            step("Pythagoras", pairs(Integer(1))),
            step("constant summand", d_model / 2),
        ),
        about=columns(),
        ranges={p: n},
        source=VASWANI,
    )


@result
def distance() -> Derivation:
    """Squared distances, too, depend on the offset alone."""
    return derivation(
        "The squared distance of two rows of the encoding depends on the offset alone",
        claim(
            pairs((S[p, i] - S[q, i]) ** 2 + (C[p, i] - C[q, i]) ** 2),
            step("Pythagoras", pairs(2 - 2 * cos((p - q) * frequency(i)))),
            step("angle addition", pairs(4 * sin((p - q) * frequency(i) / 2) ** 2)),
        ),
        about=columns(),
        ranges={p: n, q: n},
        source=VASWANI,
    )
