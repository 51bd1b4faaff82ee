r"""Rotary position embedding: every pair of columns is rotated by an angle proportional to the position.

Definition   the pair (a, b) number i of the row at position p becomes
             (a cos(p w_i) - b sin(p w_i), a sin(p w_i) + b cos(p w_i)), with w_i = 10000^(-2i/d_k)
Result       dot products of rotated queries and keys depend only on the difference of the positions; lengths do not
             change; pairing neighbours or halves is the same up to a permutation of the columns
Shapes       X and Y (n, d_k)
Assumes      d_k even; positions and the number i of a pair count from 0, i < d_k/2
Source       Su, Lu, Pan, Murtadha, Wen and Liu (2021), sections 3.2.2 and 3.4.2; Wang et al. (2024), Qwen2-VL, section
             2.1, for positions on several axes
"""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add

from sympy import Derivative, Eq, Expr, Ge, Integer, KroneckerDelta, Lambda, Lt, Max, Min, Mod, Sum, cos, log, pi, sin

from derivations.language.arrays.arrangements import Explicit, PlacedBlock, Tabulated, column_block
from derivations.language.arrays.expression import Array, ColumnBroadcast, RowBroadcast, array, require
from derivations.language.arrays.functions import Hadamard, Interleave
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.selection import EveryOther
from derivations.language.arrays.shapes import Blocks
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equation, Equations, Layer, part
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.positions.positional_encoding import BASE, cosine, frequency, positional_encoding, sine
from derivations.symbols import d_k, i, index, k, l, n, pos, scalar, size

__all__ = ["interpolated", "interpolated_by_wavelength", "rotary_embedding"]

TOPIC = "positional_encoding"
EQUATION_34, SECTION = "Su et al. (2021), equation 34", "Su et al. (2021), section 3.2.2"
PAIRS, HALVES = Blocks(d_k / 2, Integer(2)), Blocks(Integer(2), d_k / 2)
X, Q, K = (array(name, n, d_k) for name in ("X", "Q", "K"))
Z, Q_h, K_h, Q_2, K_2 = (array(name, n, HALVES) for name in ("Z", "Q", "K", "Q_2", "K_2"))  # read as two halves
Y, Q_r, K_r, x_r, y_r, PE = (array(name, n, PAIRS) for name in ("Y", "Q_r", "K_r", "x_r", "y_r", "PE"))
b, c, p, q, s = map(index, ("b", "c", "p", "q", "s"))
w, a, LAST = frequency(i, d_k), scalar("a"), d_k / 2 - 1  # the number of the last pair
EVEN = Assumption(Eq(Mod(d_k, 2), 0, evaluate=False))
IDENTITY = Explicit([[1, 0], [0, 1]])


FIRST = size("w_1")  # the pairs that the first of two axes turns
BY_FIRST: tuple[Callable[[Expr], Expr], ...] = (
    lambda pair: Iverson(Lt(pair, FIRST)),
    lambda pair: Iverson(Ge(pair, FIRST)),
)


@catalogued("rotary_embedding_axes", halves=True, axes=BY_FIRST)
@catalogued("rotary_embedding_halves", halves=True)
@catalogued
def rotary_embedding(
    *,
    halves: bool = False,
    base: Expr = BASE,
    scaled: Callable[[Expr, Expr], Expr] = lambda frequency, pair: frequency,
    amplitude: Expr | int = 1,
    angles: Callable[[Expr, Expr], Expr] | None = None,
    axes: Sequence[Callable[[Expr], Expr]] = (),
) -> Layer:
    """Return rotary position embedding, which pairs neighbouring columns, or column i with d_k/2 + i when `halves`.

    Definition   U = X cos(angle), V = X sin(angle), entry by entry; the first entry of every pair is
                 A = U_first - V_second, the second B = V_first + U_second; the frequencies are
                 scaled(base^(-2i/d_k), i), F_a those of axis a, and `amplitude` multiplies both cosines and sines;
                 with `angles` the angle of a pair at a position is angles(position, pair); on several `axes` a row
                 has a position on each, p_a[row], and axis a turns the pairs for which axes[a](pair) is 1, not 0
    Shapes       X, U, V and Y (n, d_k), A and B (n, d_k/2), p_a (n,)
    Assumes      d_k even; without axes the row number is the position
    Source       Su et al. (2021), equation 34, for neighbours; halves as in the code of GPT-NeoX; Wang et al. (2024),
                 Qwen2-VL, section 2.1, for axes
    """

    def w(pair: Expr) -> Expr:
        return scaled(frequency(pair, d_k, base), pair)

    def turned(row: Expr, pair: Expr) -> Expr:
        return row * w(pair) if angles is None else angles(row, pair)

    def sized(waves: Array) -> Array:
        return waves if amplitude == 1 else waves * amplitude

    places, let = [array(f"p_{axis}", n) for axis, _ in enumerate(axes)], Equations()

    def on_axis(axis: int, pair: Expr) -> Array:
        frequencies = let(f"F_{axis}")(Tabulated(Lambda((pos, c), axes[axis](pair) * w(pair)), n, HALVES))
        return Hadamard(ColumnBroadcast(places[axis], HALVES), frequencies)

    if halves:
        pair = c - d_k / 2 * Iverson(Ge(c, d_k / 2))
        plain = Tabulated(Lambda((pos, c), turned(pos, pair)), n, HALVES)
        angle = let("angle")(reduce(add, (on_axis(axis, pair) for axis, _ in enumerate(axes))) if axes else plain)
        U, V = let("U")(Hadamard(X, sized(cosine(angle)))), let("V")(Hadamard(X, sized(sine(angle))))
        A, B = let("A")(column_block(U, 0) - column_block(V, 1)), let("B")(column_block(V, 0) + column_block(U, 1))
        output = let("Y")(PlacedBlock(A, 0, 2) + PlacedBlock(B, 1, 2))
        name = "rotary_embedding_axes" if axes else "rotary_embedding_halves"
        return Layer(name, (X, *places), (), let, output)
    require(not axes, lambda: "rotary positions on several axes are described for pairs of halves")
    angle = let("angle")(Tabulated(Lambda((pos, i), turned(pos, i)), n, d_k / 2))
    C, S = let("C")(sized(cosine(angle))), let("S")(sized(sine(angle)))
    U, V = let("U")(Hadamard(X, Interleave(C, C))), let("V")(Hadamard(X, Interleave(S, S)))
    A, B = let("A")(EveryOther(U, 0) - EveryOther(V, 1)), let("B")(EveryOther(V, 0) + EveryOther(U, 1))
    output = let("Y")(Interleave(A, B))
    return Layer("rotary_embedding", (X,), (), let, output)


def interpolated(frequency: Expr, factor: Expr) -> Expr:
    """Return the frequency for positions that are divided by a factor.

    Source       Chen, Wong, Chen and Tian (2023), section 2.3
    """
    return frequency / factor


def interpolated_by_wavelength(
    frequency: Expr, factor: Expr, length: Expr, longest_wave: Expr, shortest_wave: Expr
) -> Expr:
    """Return a frequency that is divided by a factor if its wave is long, and kept if it is short.

    Definition   w s + (w / factor) (1 - s), s = (t - longest_wave) / (shortest_wave - longest_wave) clipped to [0, 1],
                 with t the number of waves of the frequency on `length` positions
    Source       Llama Team (2024), section 3.2, with the numbers of its released configurations
    """
    waves = length * frequency / (2 * pi)
    share = Min(1, Max(0, (waves - longest_wave) / (shortest_wave - longest_wave)))
    return share * frequency + (1 - share) * frequency / factor


neighbours, by_halves = part("rotary", rotary_embedding()), part("rotary", rotary_embedding(halves=True))
x, y = array("x", d_k), array("y", d_k)
TURNED = (
    Equation(Q_r, neighbours(Q)),
    Equation(K_r, neighbours(K)),
    Equation(x_r, neighbours(RowBroadcast(x, n))),  # one query and one key at all positions
    Equation(y_r, neighbours(RowBroadcast(y, n))),
)


def pairs(of: Expr) -> Expr:
    """Return the sum of an expression in i over the d_k/2 pairs of columns."""
    return Sum(of, (i, 0, d_k / 2 - 1))


def dot(left: Array, p: Expr, right: Array, q: Expr) -> Expr:
    """Return the dot product of row p of one matrix and row q of another, pair by pair of neighbours."""
    return pairs(left[p, 2 * i] * right[q, 2 * i] + left[p, 2 * i + 1] * right[q, 2 * i + 1])


def turn(by: Expr | int) -> Array:
    """Return the rotation by `by` positions in the plane of pair number i; it acts on columns."""
    angle = by * w
    return Explicit([[cos(angle), -sin(angle)], [sin(angle), cos(angle)]])


def in_pairs(halves: Array) -> Array:
    """Return a matrix that interleaves the columns of two halves: column i of half b becomes column b of pair i."""
    return Interleave(column_block(halves, 0), column_block(halves, 1))


@result
def rotary_definition() -> Derivation:
    """The entries for both pairings: every pair is rotated by the angle pos w_i."""
    rest = i + d_k / 2
    return derivation(
        "Definition of rotary position embedding, for pairs of neighbours and for pairs of halves",
        claim(Y[pos, 2 * i], step("definition", X[pos, 2 * i] * cos(pos * w) - X[pos, 2 * i + 1] * sin(pos * w))),
        claim(Y[pos, 2 * i + 1], step("definition", X[pos, 2 * i] * sin(pos * w) + X[pos, 2 * i + 1] * cos(pos * w))),
        claim(Z[pos, i], step("definition", X[pos, i] * cos(pos * w) - X[pos, rest] * sin(pos * w))),
        claim(Z[pos, rest], step("definition", X[pos, i] * sin(pos * w) + X[pos, rest] * cos(pos * w))),
        about=[Equation(Y, neighbours(X)), Equation(Z, by_halves(X))],
        assuming=[EVEN],
        ranges={pos: n, i: d_k / 2},
        source=EQUATION_34,
    )


@result
def rotary_relative() -> Derivation:
    """The score of a query at `pos` and a key at q depends only on the difference of the positions."""
    gap, even, odd = (pos - q) * w, 2 * i, 2 * i + 1
    along = Q[pos, even] * K[q, even] + Q[pos, odd] * K[q, odd]
    across = Q[pos, odd] * K[q, even] - Q[pos, even] * K[q, odd]
    return derivation(
        "The dot product of a turned query and a turned key depends on the positions by their difference alone",
        claim(dot(Q_r, pos, K_r, q), step("angle addition", pairs(along * cos(gap) - across * sin(gap)))),
        claim(dot(x_r, pos + s, y_r, q + s), step("angle addition", dot(x_r, pos, y_r, q))),
        about=TURNED,
        assuming=[EVEN],
        ranges={s: n, pos: n - s, q: n - s},
        source=SECTION,
    )


@result
def rotary_orthogonal() -> Derivation:
    """A rotation changes no length and no dot product between rows of one position: R^T R = I."""
    return derivation(
        "Rotary position embedding keeps every dot product within a position, so every length: $R^T R = I$",
        claim(turn(pos).T @ turn(pos), step("Pythagoras", IDENTITY)),
        claim(dot(Q_r, pos, K_r, pos), step("Pythagoras", dot(Q, pos, K, pos))),
        claim(dot(Q_r, pos, Q_r, pos), step("Pythagoras", dot(Q, pos, Q, pos))),
        about=TURNED,
        assuming=[EVEN],
        ranges={pos: n, i: d_k / 2},
        source=SECTION,
    )


@result
def rotary_group() -> Derivation:
    """Rotations add up: a cache may hold rotated keys, and all of them may be moved by one more rotation."""
    return derivation(
        "Turning by two numbers of positions is turning by their sum; the way back is the transpose",
        claim(turn(k) @ turn(pos), step("angle addition", turn(k + pos))),
        claim(turn(pos).T, step("algebra", turn(-pos))),
        claim(turn(pos).T @ turn(k), step("angle addition", turn(k - pos))),
        assuming=[EVEN],
        ranges={pos: n, k: n, i: d_k / 2},
        source=SECTION,
    )


@result
def rotary_pairings() -> Derivation:
    """Columns (half b, index i) of one pairing are columns (pair i, member b) of the other: a permutation."""
    halves = pairs(sum(Q_2[pos, (half, i)] * K_2[q, (half, i)] for half in (0, 1)))
    let = (Equation(Q_2, by_halves(Q_h)), Equation(K_2, by_halves(K_h)))
    permuted = (Equation(Q_r, neighbours(in_pairs(Q_h))), Equation(K_r, neighbours(in_pairs(K_h))))
    return derivation(
        "Pairing halves is pairing neighbours after the permutation of columns $b d_k/2 + i -> 2 i + b$: scores agree",
        claim(in_pairs(Q_2), step("Kronecker delta", Q_r)),
        claim(halves, step("reindexing", dot(Q_r, pos, K_r, q))),
        about=(*let, *permuted),
        assuming=[EVEN],
        ranges={pos: n, q: n},
        source=EQUATION_34,
    )


@result
def rotary_jacobian() -> Derivation:
    """The rotation is linear in the row; the backward pass rotates by the opposite angle."""
    row, pair, even, odd = p, l, 2 * l, 2 * l + 1
    same = KroneckerDelta(pos, row) * KroneckerDelta(i, pair)
    return derivation(
        "The Jacobian of rotary position embedding is the rotation itself, pair by pair and row by row",
        claim(Derivative(Y[pos, 2 * i], X[row, even]), step("derivative", same * cos(pos * w))),
        claim(Derivative(Y[pos, 2 * i], X[row, odd]), step("derivative", -same * sin(pos * w))),
        claim(Derivative(Y[pos, 2 * i + 1], X[row, even]), step("derivative", same * sin(pos * w))),
        claim(Derivative(Y[pos, 2 * i + 1], X[row, odd]), step("derivative", same * cos(pos * w))),
        about=[Equation(Y, neighbours(X))],
        assuming=[EVEN],
        ranges={pos: n, row: n, i: d_k / 2, pair: d_k / 2},
        source=EQUATION_34,
    )


@result
def rotary_axes() -> Derivation:
    """With the same position on every axis, as for text, the rotation is the ordinary one over a single axis."""
    rows, rest = Tabulated(Lambda((pos,), pos), n), i + d_k / 2
    turned, places = part("rotary", rotary_embedding(halves=True, axes=BY_FIRST)), (array("p_0", n), array("p_1", n))
    angle = sum(turns(i) * each[pos] for turns, each in zip(BY_FIRST, places, strict=True)) * w
    return derivation(
        "On two axes pairs below $w_1$ turn by the first position, others by the second; equal ones are one axis",
        claim(Z[pos, i], step("definition", X[pos, i] * cos(angle) - X[pos, rest] * sin(angle))),
        claim(Z[pos, rest], step("definition", X[pos, i] * sin(angle) + X[pos, rest] * cos(angle))),
        claim(turned(Q, rows, rows), step("algebra", by_halves(Q))),
        about=[Equation(Z, turned(X, *places))],
        assuming=[EVEN],
        ranges={pos: n, i: d_k / 2},
        source="Wang et al. (2024), Qwen2-VL, section 2.1",
    )


@result
def rotary_linear() -> Derivation:
    """The rotation of a sum or of a multiple is the sum or the multiple of the rotations."""
    return derivation(
        "Rotary position embedding is linear",
        claim(neighbours(a * Q + K), step("algebra", a * neighbours(Q) + neighbours(K))),
        assuming=[EVEN],
        source=EQUATION_34,
    )


@result
def rotary_of_constant_rows() -> Derivation:
    """The sinusoidal encoding is one constant row, rotated at every position, with each pair swapped."""
    ones, zeros = (Tabulated(Lambda((pos, i), Integer(number)), n, d_k / 2) for number in (1, 0))
    encoding = positional_encoding(n, d_k).result()
    return derivation(
        "The rows $(1, 0, 1, 0, ...)$, turned at every position, are (cosine, sine) of the sinusoidal encoding",
        claim(Y[pos, 2 * i], step("algebra", PE[pos, 2 * i + 1])),
        claim(Y[pos, 2 * i + 1], step("algebra", PE[pos, 2 * i])),
        about=[Equation(Y, neighbours(Interleave(ones, zeros))), Equation(PE, encoding)],
        assuming=[EVEN],
        ranges={pos: n, i: d_k / 2},
        source=SECTION,
    )


@result
def rotary_interpolation() -> Derivation:
    """The base b s^(d/(d-2)) does not change the fastest pair, and divides the frequency of the slowest by s."""
    base, factor = scalar("b", positive=True), scalar("s", positive=True)
    raised = base * factor ** (d_k / (d_k - 2))
    of_base = log(base)
    return derivation(
        "With the base $b s^(d/(d-2))$ frequency $i$ is divided by $s^(2i/(d-2))$, the last one by $s$ (in logarithms)",
        claim(
            -2 * i / d_k * log(raised),
            step("exponent", -2 * i / d_k * (of_base + d_k / (d_k - 2) * log(factor))),
            step("common denominator", -2 * i / d_k * of_base - 2 * i / (d_k - 2) * log(factor)),
        ),
        claim(-2 * LAST / d_k * log(raised), step("exponent", -2 * LAST / d_k * of_base - log(factor))),
        assuming=[EVEN, Assumption(Ge(d_k, 4))],
        ranges={i: d_k / 2},
        source="Peng, Quesnelle, Fan and Shippole (2023), section 3.1",
    )
