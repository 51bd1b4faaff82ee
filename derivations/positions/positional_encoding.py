r"""Sinusoidal positional encoding: a rotation for every offset.

Definition   PE(pos, 2i) = sin(pos w_i), PE(pos, 2i+1) = cos(pos w_i), with w_i = 10000^(-2i/d_model)
Result       going from pos to pos + k rotates every pair (sine, cosine) by the angle k w_i, for every pos;
             PE_p . PE_q = sum_i cos((p - q) w_i)
Shapes       PE (n, d_model), angles (n, d_model/2)
Assumes      d_model even; positions and the number i of a pair count from 0, i < d_model/2
Source       Vaswani et al. (2017), section 3.5
"""

from sympy import Eq, Expr, Ge, Integer, Lambda, Mod, Sum, cos, pi, sin

from derivations.language.arrays.arrangements import Explicit, Tabulated
from derivations.language.arrays.columns import ColumnConcatenation
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.functions import Interleave, named
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equation, Equations, Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import d_model, i, index, j, k, l, n, pos, scalar

__all__ = ["positional_encoding"]

VASWANI = "Vaswani et al. (2017), section 3.5"
x, p, q = scalar("x"), index("p"), index("q")
BASE = Integer(10000)
sine, cosine = named("sin", sin(x), x), named("cos", cos(x), x)
PE, wave = array("PE", n, d_model), array("wave", d_model / 2)
EVEN = Assumption(Eq(Mod(d_model, 2), 0, evaluate=False))


def frequency(pair: Expr, width: Expr = d_model, base: Expr = BASE) -> Expr:
    """Return w_i = base^(-2i/width)."""
    return 1 / base ** (2 * pair / width)


@catalogued
def positional_encoding(
    positions: Expr = n, width: Expr = d_model, *, halves: bool = False, to_base: bool = False, first: int = 0
) -> Layer:
    """Return the sinusoidal positional encoding.

    Definition   PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model)); in `halves`
                 all sines stand before all cosines; with `to_base` the exponents are 2i/(d_model - 2), so that the last
                 one is 1; the rows are those of the positions from `first` on
    Shapes       angle (n, d_model/2), PE (n, d_model)
    Assumes      d_model even, and more than 2 with `to_base`; pos = 0, ..., n-1; i = 0, ..., d_model/2 - 1 numbers the
                 pairs
    Source       Vaswani et al. (2017), section 3.5; halves, and exponents up to 1, as in the code of Tensor2Tensor
    """
    let = Equations()
    exponents = width - 2 if to_base else width
    angle = let("angle")(Tabulated(Lambda((pos, i), (pos + first) * frequency(i, exponents)), positions, width / 2))
    S, C = sine(angle), cosine(angle)
    output = let("PE")(ColumnConcatenation(S, C) if halves else Interleave(S, C))
    return Layer("positional_encoding", (), (), let, output)


def pairs(of: Expr) -> Expr:
    """Return the sum of an expression in i over the d_model/2 pairs of columns."""
    return Sum(of, (i, 0, d_model / 2 - 1))


def rotated(offset: Expr) -> tuple[Expr, Expr]:
    """Return the pair (sine, cosine) at `pos`, rotated by the angle offset * w_i."""
    angle = offset * frequency(i)
    even, odd = PE[pos, 2 * i], PE[pos, 2 * i + 1]
    return cos(angle) * even + sin(angle) * odd, -sin(angle) * even + cos(angle) * odd


def turn(by: Expr) -> Array:
    """Return the matrix that maps pair number i (sine, cosine) at any position to the pair `by` positions later."""
    angle = by * frequency(i)
    return Explicit([[cos(angle), sin(angle)], [-sin(angle), cos(angle)]])


@result
def definition() -> Derivation:
    """Even columns are sines, odd columns cosines; both columns of a pair have the exponent 2i."""
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
    """From pos to pos + k every pair rotates by the angle k w_i, which does not depend on pos."""
    w = frequency(i)
    even, odd = rotated(k)
    return derivation(
        "Moving on by $k$ positions rotates every pair (sine, cosine) by an angle that depends on the offset $k$ alone",
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
    """The similarity of two positions depends on their distance, not on where they are."""
    w = frequency(i)
    return derivation(
        "The dot product of two rows of the encoding is a sum of $d/2$ cosines of the offset",
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
    """All rows have the same length."""
    return derivation(
        "Every row of the encoding has squared length $d/2$",
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
    """Squared distances, too, depend only on the offset."""
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


@result
def dot_product_bound() -> Derivation:
    """No other position is more similar to a position than the position itself."""
    w = frequency(i)
    return derivation(
        "The dot product of two rows of the encoding is at most $d/2$, its value for a row with itself",
        claim(
            pairs(PE[p, 2 * i] * PE[q, 2 * i] + PE[p, 2 * i + 1] * PE[q, 2 * i + 1]),
            step("angle addition", pairs(cos((p - q) * w))),
            # 1 - cos(a) = 2 sin(a/2)^2
            step("bound", d_model / 2, "<=", pairs(2 * sin((p - q) * w / 2) ** 2)),
        ),
        about=positional_encoding(),
        assuming=[EVEN],
        ranges={p: n, q: n},
        source=VASWANI,
    )


@result
def shift_is_linear() -> Derivation:
    """One orthogonal matrix for each pair moves all rows by k positions; its transpose moves them back."""
    pair = Tabulated(Lambda((pos, j), PE[pos, 2 * i + j]), n, 2)
    return derivation(
        "Moving on by $k$ positions is one orthogonal matrix for each pair, the same for all positions",
        claim(turn(k) @ pair[pos], step("angle addition", pair[pos + k])),
        claim(turn(k).T @ turn(k), step("Pythagoras", Explicit([[1, 0], [0, 1]]))),
        claim(turn(k).T @ pair[pos + k], step("angle addition", pair[pos])),
        claim(turn(k) @ turn(l), step("angle addition", turn(k + l))),
        about=positional_encoding(),
        assuming=[EVEN],
        ranges={k: n, l: n, pos: n - k, i: d_model / 2},
        source=VASWANI,
    )


@result
def wavelengths() -> Derivation:
    """The period of each pair: a geometric progression from 2 pi towards 20000 pi."""
    w, ratio, last = frequency(i), Integer(10000) ** (2 / d_model), d_model / 2 - 1
    formula = Tabulated(Lambda((i,), 2 * pi / frequency(i)), d_model / 2)
    return derivation(
        "The wavelengths of the pairs form a geometric progression from $2 pi$ to $2 pi 10000^(1 - 2/d)$",
        claim(sin((pos + wave[i]) * w), step("angle addition", PE[pos, 2 * i])),
        claim(cos((pos + wave[i]) * w), step("angle addition", PE[pos, 2 * i + 1])),
        claim(wave[i], step("exponent", 2 * pi * ratio**i)),
        claim(wave[0], step("definition", 2 * pi)),
        claim(wave[last], step("exponent", 2 * pi * Integer(10000) ** (1 - 2 / d_model))),
        about=(*positional_encoding().equations, Equation(wave, formula)),
        assuming=[EVEN, Assumption(Ge(d_model, 2))],
        ranges={pos: n, i: d_model / 2},
        source=VASWANI,
    )


@result
def first_position() -> Derivation:
    """Row 0 is (0, 1, 0, 1, ...)."""
    return derivation(
        "The first row of the encoding is $0, 1, 0, 1, ...$",
        claim(PE[0, 2 * i], step("algebra", 0)),
        claim(PE[0, 2 * i + 1], step("algebra", 1)),
        about=positional_encoding(),
        assuming=[EVEN],
        ranges={i: d_model / 2},
        source=VASWANI,
    )


@result
def first_pair() -> Derivation:
    """The fastest pair does not depend on the width: it rotates by one radian for each position."""
    return derivation(
        "The first pair of the encoding is $(sin pos, cos pos)$, for every width",
        claim(PE[pos, 0], step("algebra", sin(pos))),
        claim(PE[pos, 1], step("algebra", cos(pos))),
        about=positional_encoding(),
        assuming=[EVEN, Assumption(Ge(d_model, 2))],
        ranges={pos: n},
        source=VASWANI,
    )
