"""Small random layers over the language's operations, made from a seed: the same seed, the same layer.

Result       layers of one to five equations and one to four inputs: scalars, vectors, matrices, families of matrices,
             masks and tokens, next to weights; every operation of arrays may stand at every depth
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from sympy import E, Expr, Integer, Lambda, Max, Min, Symbol, exp, sin, sqrt

from derivations.language.arrays.arrangements import ColumnBlock, Concatenate, SumOver, Tabulated
from derivations.language.arrays.columns import ColumnConcatenation, ColumnRange
from derivations.language.arrays.exponentials import Normalised, row_exponentials
from derivations.language.arrays.expression import Array, ColumnBroadcast, Member, RowBroadcast, Variable
from derivations.language.arrays.functions import (
    CausalMask,
    Hadamard,
    Lookup,
    RowLogSumExp,
    RowMean,
    RowSoftmax,
    RowSum,
    WindowMask,
    gelu,
    named,
    relu,
)
from derivations.language.arrays.rows import RowRange, Stacked
from derivations.language.arrays.selection import OneHot, Pick
from derivations.language.arrays.shapes import Axis, Blocks
from derivations.language.layers.layer import Equations, Layer
from derivations.language.layers.names import variables_in
from derivations.symbols import d, h, i, m, n, scalar, size

__all__ = ["drawn_layer"]

SIZES = (n, m, d, size("r"))
TABLE = size("vocab")
Shape = tuple[Axis, ...]
_x, _y = scalar("x"), scalar("y")
soft_sign = named("soft_sign", _x / (1 + _x**2), _x)
cube = named("cube", _x**3 / 10, _x)
wave = named("wave", sin(_x), _x)
gate = named("gate", _y / (1 + exp(-_x)), _x, _y)
larger = named("larger", Max(_x, _y), _x, _y)
clipped = named("clipped", Min(1, Max(-1, _x)), _x)
scaled_root = named("scaled_root", _x / sqrt(_y**2 + 1), _x, _y)
UNARY = (relu, gelu, soft_sign, cube, wave, clipped)
BINARY = (gate, larger, scaled_root)
FACTORS: tuple[Expr, ...] = (Integer(-1), Integer(2), 1 / sqrt(d), Integer(1) / 3, Integer(-3) / 2)


@dataclass
class _Draw:
    """One layer as it is drawn: what is known so far, and the random numbers."""

    random: Random
    inputs: list[Variable] = field(default_factory=list)
    parameters: list[Variable] = field(default_factory=list)
    defined: list[Variable] = field(default_factory=list)
    families: list[Variable] = field(default_factory=list)
    over: Symbol | None = None

    def size(self) -> Symbol:
        return self.random.choice(SIZES)

    # --- variables ---

    def given(self, shape: Shape, kind: str = "real") -> Variable:
        """An input of a shape, an old one where there is one."""
        old = [v for v in self.inputs if v.shape == shape and v.kind == kind]
        if old and self.random.random() < 0.6:
            return self.random.choice(old)
        letter = {"real": "X", "boolean": "M", "integer": "t"}[kind]
        self.inputs.append(Variable(f"{letter}{len(self.inputs)}", shape, kind))
        return self.inputs[-1]

    def weight(self, shape: Shape) -> Variable:
        old = [v for v in self.parameters if v.shape == shape]
        if old and self.random.random() < 0.5:
            return self.random.choice(old)
        self.parameters.append(Variable(f"W{len(self.parameters)}", shape))
        return self.parameters[-1]

    def leaf(self, shape: Shape) -> Array:
        """A variable of a shape: defined, given or a weight; in a family a member, where one has that shape."""
        known = [v for v in self.defined if v.shape == shape]
        members = [Member(v, self.over) for v in self.families if v.shape[1:] == shape] if self.over else []
        if members and self.random.random() < 0.6:
            return self.random.choice(members)
        if known and self.random.random() < 0.6:
            return self.random.choice(known)
        if self.over is not None and self.random.random() < 0.5 and len(shape) == 2:
            family = (h, *shape)
            return Member(self.given(family) if self.random.random() < 0.4 else self.weight(family), self.over)
        return self.given(shape) if self.random.random() < 0.6 else self.weight(shape)

    # --- expressions ---

    def value(self, shape: Shape, depth: int) -> Array:
        """A random expression of a shape."""
        if depth <= 0:
            return self.leaf(shape)
        return self.random.choice(RULES[len(shape)])(self, shape, depth - 1)

    def mask(self, shape: Shape) -> Array | None:
        """A mask for scores, or none."""
        rows, keys = shape
        choices: list[Callable[[], Array | None]] = [lambda: None, lambda: self.given(shape, "boolean")]
        if rows == keys:
            choices += [lambda: CausalMask(rows), lambda: WindowMask(rows, 2)]
        return self.random.choice(choices)()


def _leaf(draw: _Draw, shape: Shape, depth: int) -> Array:
    return draw.leaf(shape)


def _plus(draw: _Draw, shape: Shape, depth: int) -> Array:
    first, second = draw.value(shape, depth), draw.value(shape, depth)
    return first - second if draw.random.random() < 0.4 else first + second


def _scaled(draw: _Draw, shape: Shape, depth: int) -> Array:
    return draw.random.choice(FACTORS) * draw.value(shape, depth)


def _times(draw: _Draw, shape: Shape, depth: int) -> Array:
    first = draw.value(shape, depth)
    other = draw.value(() if draw.random.random() < 0.2 else shape, depth)
    return Hadamard(first, other)


def _unary(draw: _Draw, shape: Shape, depth: int) -> Array:
    return draw.random.choice(UNARY)(draw.value(shape, depth))


def _binary(draw: _Draw, shape: Shape, depth: int) -> Array:
    other = () if draw.random.random() < 0.15 else shape
    return draw.random.choice(BINARY)(draw.value(shape, depth), draw.value(other, depth))


# scalars


def _total(draw: _Draw, shape: Shape, depth: int) -> Array:
    function = draw.random.choice((RowSum, RowMean, RowLogSumExp))
    return function(draw.value((draw.size(),), depth))


def _inner(draw: _Draw, shape: Shape, depth: int) -> Array:
    along = draw.size()
    return draw.value((along,), depth) @ draw.value((along,), depth)


# vectors


def _of_rows(draw: _Draw, shape: Shape, depth: int) -> Array:
    function = draw.random.choice((RowSum, RowMean, RowLogSumExp))
    return function(draw.value((shape[0], draw.size()), depth))


def _of_columns(draw: _Draw, shape: Shape, depth: int) -> Array:
    function = draw.random.choice((RowSum, RowMean))
    return function(draw.value((draw.size(), shape[0]), depth).T)


def _matrix_vector(draw: _Draw, shape: Shape, depth: int) -> Array:
    along = draw.size()
    return draw.value((shape[0], along), depth) @ draw.value((along,), depth)


def _vector_matrix(draw: _Draw, shape: Shape, depth: int) -> Array:
    along = draw.size()
    return draw.value((along,), depth) @ draw.value((along, shape[0]), depth)


def _soft_vector(draw: _Draw, shape: Shape, depth: int) -> Array:
    return RowSoftmax(draw.value(shape, depth))


def _picked(draw: _Draw, shape: Shape, depth: int) -> Array:
    return Pick(draw.value((shape[0], TABLE), depth), draw.given(shape, "integer"))


# matrices


def _product(draw: _Draw, shape: Shape, depth: int) -> Array:
    along = draw.size()
    return draw.value((shape[0], along), depth) @ draw.value((along, shape[1]), depth)


def _scores(draw: _Draw, shape: Shape, depth: int) -> Array:
    along = draw.size()
    return draw.value((shape[0], along), depth) @ draw.value((shape[1], along), depth).T


def _transposed(draw: _Draw, shape: Shape, depth: int) -> Array:
    return draw.value(shape[::-1], depth).T


def _in_every_row(draw: _Draw, shape: Shape, depth: int) -> Array:
    vector = draw.value((shape[1],), depth)
    return RowBroadcast(vector, shape[0]) if draw.random.random() < 0.3 else draw.value(shape, depth) + vector


def _in_every_column(draw: _Draw, shape: Shape, depth: int) -> Array:
    wide = ColumnBroadcast(draw.value((shape[0],), depth), shape[1])
    function = draw.random.choice((Hadamard, lambda a, b: a + b, lambda a, b: a - b, scaled_root))
    return function(draw.value(shape, depth), wide)


def _centred(draw: _Draw, shape: Shape, depth: int) -> Array:
    rows = draw.value(shape, depth)
    return rows - ColumnBroadcast(RowMean(rows), shape[1])


def _softmax(draw: _Draw, shape: Shape, depth: int) -> Array:
    mask = draw.mask(shape)
    scores = draw.value(shape, depth)
    return RowSoftmax(scores) if mask is None else RowSoftmax(scores, mask)


def _attention(draw: _Draw, shape: Shape, depth: int) -> Array:
    keys = draw.size()
    return _softmax(draw, (shape[0], keys), depth) @ draw.value((keys, shape[1]), depth)


def _unnormalised(draw: _Draw, shape: Shape, depth: int) -> Array:
    mask = draw.mask(shape)
    scores, base = draw.value(shape, depth), draw.random.choice((E, Integer(2)))
    return row_exponentials(scores, mask, base)


def _divided(draw: _Draw, shape: Shape, depth: int) -> Array:
    rows = row_exponentials(draw.leaf(shape))  # of which the sum is at least 1
    return Normalised(rows, RowSum(rows))


def _looked_up(draw: _Draw, shape: Shape, depth: int) -> Array:
    return Lookup(draw.weight((TABLE, shape[1])), draw.given(shape[:1], "integer"))


def _one_hot(draw: _Draw, shape: Shape, depth: int) -> Array:
    return OneHot(draw.given(shape[:1], "integer"), TABLE) @ draw.value((TABLE, shape[1]), depth)


def _beside(draw: _Draw, shape: Shape, depth: int) -> Array:
    other = draw.size()
    return ColumnRange(
        ColumnConcatenation(draw.value((shape[0], other), depth), draw.value(shape, depth)), other, shape[1]
    )


def _stacked(draw: _Draw, shape: Shape, depth: int) -> Array:
    other = draw.size()
    rows = Stacked(draw.value((other, shape[1]), depth), draw.value(shape, depth))
    return RowRange(rows, other if draw.random.random() < 0.5 else 0, shape[0])


def _table(draw: _Draw, shape: Shape, depth: int) -> Array:
    row, column = Symbol("row_", integer=True), Symbol("column_", integer=True)
    formula = draw.random.choice((row - column, row / 3 + 1, 1 / (1 + column), sin(row + column)))
    return draw.value(shape, depth) + Tabulated(Lambda((row, column), formula), *shape)


ANY = (_leaf, _plus, _scaled, _times, _unary, _binary)
RULES = {
    0: (*ANY, _total, _inner),
    1: (*ANY, _of_rows, _of_columns, _matrix_vector, _vector_matrix, _soft_vector, _picked),
    2: (
        *ANY, _product, _product, _scores, _transposed, _in_every_row, _in_every_column, _centred, _softmax, _attention,
        _unnormalised, _divided, _looked_up, _one_hot, _picked, _beside, _stacked, _table,
    ),
}  # fmt: skip


# families


def _family(draw: _Draw, let: Equations, number: int) -> None:
    """A family of matrices, then all of its members as one matrix."""
    rows, columns, keys = draw.size(), draw.size(), draw.size()
    draw.over = i
    first = _varying(draw, (rows, columns))
    draw.families.append(let(f"F{number}", over=(i, h))(first))
    if draw.random.random() < 0.7:
        right = _varying(draw, (keys, columns))
        scores = Member(draw.families[-1], i) @ right.T
        mask = draw.mask((rows, keys))
        draw.families.append(let(f"S{number}", over=(i, h))(scores))
        scores = Member(draw.families[-1], i)
        weights = RowSoftmax(scores) if mask is None else RowSoftmax(scores, mask)
        draw.families.append(let(f"A{number}", over=(i, h))(weights))
        draw.families.append(
            let(f"O{number}", over=(i, h))(Member(draw.families[-1], i) @ draw.value((keys, columns), 1))
        )
    member = Member(draw.families[-1], i)
    draw.over = None
    joined = SumOver(member, i, h) if draw.random.random() < 0.5 else Concatenate(member, i, h)
    draw.defined.append(let(f"C{number}")(joined))
    if isinstance(joined, Concatenate) and draw.random.random() < 0.6:
        W = draw.weight((Blocks(h, columns), d))
        draw.defined.append(let(f"P{number}")(draw.defined[-1] @ W))


def _varying(draw: _Draw, shape: Shape) -> Array:
    """An expression that depends on the index of the family."""
    rows, columns = shape
    along = draw.size()
    match draw.random.randrange(4):
        case 0:
            return draw.value((rows, along), 1) @ Member(draw.weight((h, along, columns)), draw.over)
        case 1:
            return ColumnBlock(draw.given((rows, Blocks(h, columns))), draw.over)
        case 2:
            return Member(draw.given((h, rows, columns)), draw.over)
        case _:
            wide = draw.value((rows, along), 1)
            return wide @ Member(draw.weight((h, along, columns)), draw.over) + Member(
                draw.weight((h, columns)), draw.over
            )


def drawn_layer(seed: int) -> Layer:
    """Return the layer of a seed."""
    draw, let = _Draw(Random(seed)), Equations()
    for number in range(draw.random.randint(1, 4)):
        if draw.random.random() < 0.25:
            _family(draw, let, number)
            continue
        rank = draw.random.choices((0, 1, 2), (1, 2, 7))[0]
        shape = tuple(draw.size() for _ in range(rank))
        draw.defined.append(let(f"Y{number}")(draw.value(shape, draw.random.randint(1, 3))))
    inputs = draw.inputs or [draw.given((n, d))]
    layer = Layer(f"drawn_{seed}", inputs, draw.parameters, let, draw.defined[-1])
    return layer if draw.random.random() < 0.1 else _without_what_is_not_read(layer)


def _without_what_is_not_read(layer: Layer) -> Layer:
    """Return a layer without the equations, weights and, but for one, inputs that its output does not depend on."""
    needed = layer.until(layer.output.name)
    read = {v for equation in needed.equations for v in variables_in(equation.value)}
    inputs = [v for v in layer.inputs if v in read] or layer.inputs[:1]
    return Layer(layer.name, inputs, [p for p in layer.parameters if p in read], needed.equations, layer.output)
