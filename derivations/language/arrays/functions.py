"""Functions of arrays: elementwise functions, functions of rows, masks and look-ups.

An elementwise function is data: a name and a formula (`Lambda`). The judge unfolds the formula, the printers write the
name or the formula, and the compiler prints the formula as NumPy. So a new activation needs only a new `Named`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sympy import (
    Basic,
    Derivative,
    Expr,
    Function,
    Indexed,
    Integer,
    KroneckerDelta,
    Lambda,
    Max,
    Pow,
    Subs,
    Symbol,
    SympifyError,
    erf,
    exp,
    log,
    sqrt,
    sympify,
)
from sympy.core.symbol import Str
from sympy.printing.str import StrPrinter

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.declarations import demands
from derivations.language.arrays.expression import (
    Array,
    Shape,
    Variable,
    avoiding,
    broadcast_hint,
    guarded,
    require,
)
from derivations.language.arrays.masks import BandMask, CausalMask, WindowMask, band_mask
from derivations.language.arrays.scalars import Admitted, kind_of
from derivations.language.arrays.shapes import (
    Blocks,
    Place,
    ShapeError,
    flat,
    join,
    pair,
    same_size,
    shape_text,
    sum_along,
    total,
)
from derivations.language.arrays.shown import Displayed

__all__ = [
    "BandMask",
    "CausalMask",
    "Elementwise",
    "Hadamard",
    "Interleave",
    "Lookup",
    "MaskConjunction",
    "Named",
    "RowLogSumExp",
    "RowMean",
    "RowSoftmax",
    "RowSum",
    "WindowMask",
    "band_mask",
    "exponential",
    "gelu",
    "named",
    "relu",
    "row_softmax",
    "square",
    "uninterpreted_function",
]


class Named(Displayed, Basic):
    """An elementwise function: a name and its formula; call it on arrays."""

    def __new__(cls, name: str | Str, formula: Lambda, *declared: Symbol) -> Named:
        """Build the function `name` with its formula; `declared` are its variables if SymPy replaced them."""
        return super().__new__(cls, name if isinstance(name, Str) else Str(name), formula, *declared)

    @property
    def name(self) -> str:
        """The name, such as "relu"."""
        return self.args[0].name

    @property
    def formula(self) -> Lambda:
        """The formula, a SymPy `Lambda`."""
        return self.args[1]

    @property
    def variables(self) -> tuple[Symbol, ...]:
        """The variables as declared; the formula holds only under their declarations."""
        return self.args[2:] or self.formula.variables

    def __call__(self, *arrays: Any) -> Any:
        """Apply the function to every entry of arrays. For scalars such as b x, return its formula with them put in."""
        if arrays and not any(isinstance(each, Array) for each in arrays):
            with suppress(SympifyError):
                numbers = [sympify(each, strict=True) for each in arrays]
                if len(numbers) == len(self.variables) and all(isinstance(each, Expr) for each in numbers):
                    return _at_numbers(self, numbers)
        return Elementwise(self, *arrays)


def named(name: str, formula: Any, *variables: Symbol) -> Named:
    """Return the elementwise function `name` with the given formula in the given variables."""
    with suppress(SympifyError):  # what is no formula is refused in the next line
        formula = sympify(formula, strict=True)
    if not isinstance(name, str) or not isinstance(formula, Expr) or not all(isinstance(v, Symbol) for v in variables):
        raise TypeError(f"a function has a name, a formula and its variables, not {name!r}, {formula!r}, {variables!r}")
    if not variables:
        raise TypeError(f"the function {name} has no variable: write it after the formula, named({name!r}, ..., x)")
    written = Lambda(variables, formula)
    kept = written.variables == variables  # Lambda(x, x) becomes SymPy's one identity, whose variable is undeclared
    function = Named(name, written, *(() if kept or not any(map(demands, variables)) else variables))
    _check_name(function)
    return function


def _check_name(function: Named) -> None:
    """Refuse a function with the name of a built-in one and another formula: it would print as the built-in one."""
    built_in = BUILT_IN.get(function.name)
    if built_in is not None and built_in != function.formula:
        raise ValueError(f"there is a function {function.name!r} with another formula; choose another name")


def uninterpreted_function(name: str) -> Named:
    """Return an uninterpreted elementwise function: a statement proved with it holds for every function."""
    return named(name, Function(name, real=True)(_x), _x)


BUILT_IN: dict[str, Lambda] = {}
_x = Symbol("x", real=True)
relu = named("relu", Max(0, _x), _x)
gelu = named("gelu", _x * (1 + erf(_x / sqrt(2))) / 2, _x)
square = named("square", _x**2, _x)
exponential = named("exp", exp(_x), _x)


BUILT_IN |= {function.name: function.formula for function in (relu, gelu, square, exponential)}


class Elementwise(Array):
    """A function applied entry by entry to arrays of one shape; arrays of rank 0 are broadcast."""

    def _infer(self) -> Shape:
        function, *arrays = self.args
        require(
            len(function.formula.variables) == len(arrays),
            lambda: f"{function.name} takes {len(function.formula.variables)} arrays, not {len(arrays)}",
        )
        return _common(function.name, arrays)

    @property
    def kind(self) -> str:
        """The kind of the entries: a formula of integers or masks may give integers or a mask, not only reals."""
        function, *arrays = self.args
        if any(a.kind == "real" for a in arrays):
            return "real"
        return kind_of(function.formula.expr, function.formula.variables)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self.args[0].name}({', '.join(map(str, self.args[1:]))})"

    def _entry(self, *places: Place) -> Expr:
        function, *arrays = self.args
        return _at_numbers(function, [_at(a, places) for a in arrays])


def _at_numbers(function: Named, numbers: Sequence[Expr]) -> Expr:
    """Return the formula of a function with scalars put in for its variables."""
    values = dict(zip(function.formula.variables, numbers, strict=True))
    return _admitted(_put_in(function.formula.expr, values), dict(zip(function.variables, numbers, strict=True)))


def _put_in(formula: Expr, values: dict[Symbol, Expr]) -> Expr:
    if formula.has(Derivative):  # the slope of an unknown function at the entry: f'(a) is Subs(f'(x), x, a)
        return Subs(formula, tuple(values), tuple(values.values()))
    # x / x at an entry a must stay undefined at a = 0, also where SymPy cancels it
    bases = [replace_free(power.base, values) for power in formula.atoms(Pow) if power.exp.is_negative]
    return guarded(replace_free(formula, values), [Pow(base, -1, evaluate=False) for base in bases])


def _admitted(value: Expr, put_in: dict[Symbol, Expr]) -> Expr:
    """Return a value with the condition that every entry satisfies the declaration of the variable it replaces."""
    for variable, entry in put_in.items():
        wanted = demands(variable)
        if wanted is None:
            raise ShapeError(f"the variable {variable} of a function stands for real numbers: declare it real")
        for kind in wanted:
            value = Admitted(value, entry, Str(kind))
    return value


class Hadamard(Array):
    """The entrywise (Hadamard) product of two arrays of one shape."""

    binding = 2

    def _infer(self) -> Shape:
        return _common("entrywise product", self.args)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self._text(0, 2)} * {self._text(1, 3)}"

    def _entry(self, *places: Place) -> Expr:
        return _at(self.args[0], places) * _at(self.args[1], places)


class MaskConjunction(Array):
    """The entrywise conjunction of two masks."""

    binding = 2

    def _infer(self) -> Shape:
        require(
            all(a.kind == "boolean" for a in self.args),
            lambda: f"{self.args[0]} and {self.args[1]}: both must be boolean masks",
        )
        return _common("conjunction", self.args)

    @property
    def kind(self) -> str:
        """The kind of the entries: "boolean"."""
        return "boolean"

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self._text(0, 2)} & {self._text(1, 3)}"

    def _entry(self, *places: Place) -> Expr:
        return _at(self.args[0], places) * _at(self.args[1], places)


class RowSoftmax(Array):
    """Softmax of every row; with a mask, over its visible keys only.

    Definition   y_ij = exp(x_ij) / sum_l exp(x_il);  with a mask, M_ij exp(x_ij) / sum_l M_il exp(x_il)
    Assumes      with a mask, a row with no visible key is a row of zeros
    """

    def _infer(self) -> Shape:
        array, *masks = self.args
        require(len(array.shape) >= 1, lambda: f"softmax of {array}: a scalar has no rows")
        if masks:
            require(masks[0].kind == "boolean", lambda: f"softmax of {array}: the mask {masks[0]} must be boolean")
            _common("softmax", (array, masks[0]))
        return array.shape

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"softmax({', '.join(map(str, self.args))})"

    def _entry(self, *places: Place) -> Expr:
        array, *masks = self.args

        def term(last: Place) -> Expr:
            visible = masks[0].entry(*places[:-1], last) if masks else Integer(1)
            # a hidden key adds 0 to the sum: the definition needs no -infinity
            return visible * exp(array.entry(*places[:-1], last))

        return term(places[-1]) / sum_along(array.shape[-1], term, avoiding(self, places))


def row_softmax(array: Array, mask: Array | None = None, *, axis: int = -1) -> RowSoftmax:
    """Return the softmax of every row; if a mask is given, over its visible keys only.

    Raises `ShapeError` for an axis other than the last one.
    """
    last = axis == -1 or axis == len(array.shape) - 1
    require(last, lambda: f"softmax over axis {axis}: write row_softmax({array}.T).T")
    return RowSoftmax(array) if mask is None else RowSoftmax(array, mask)


class RowLogSumExp(Array):
    """The logarithm of the sum of the exponentials of every row: log sum_j exp(x_ij), a smooth maximum."""

    def _infer(self) -> Shape:
        shape = self.args[0].shape
        require(len(shape) >= 1, lambda: f"log-sum-exp of {self.args[0]}: a scalar has no rows")
        return shape[:-1]

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"logsumexp({self.args[0]})"

    def _entry(self, *places: Place) -> Expr:
        array = self.args[0]
        return log(sum_along(array.shape[-1], lambda p: exp(array.entry(*places, p)), avoiding(self, places)))


class RowSum(Array):
    """The sum of every row."""

    def _infer(self) -> Shape:
        shape = self.args[0].shape
        require(len(shape) >= 1, lambda: f"sum of the rows of {self.args[0]}: it is a scalar")
        return shape[:-1]

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"rowsum({self.args[0]})"

    def _entry(self, *places: Place) -> Expr:
        array = self.args[0]
        return sum_along(array.shape[-1], lambda p: array.entry(*places, p), avoiding(self, places))


class RowMean(RowSum):
    """The mean of every row: the sum divided by the number of columns."""

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"rowmean({self.args[0]})"

    def _entry(self, *places: Place) -> Expr:
        return super()._entry(*places) / total(self.args[0].shape[-1])


class Interleave(Array):
    """Interleaved columns of two arrays: even columns from the first, odd columns from the second."""

    def _infer(self) -> Shape:
        *rows, pairs = _common("interleaving", self.args)
        return (*rows, Blocks(pairs, Integer(2)))

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"interleave({self.args[0]}, {self.args[1]})"

    def _entry(self, *places: Place) -> Expr:
        column = pair(places[-1], self.shape[-1])
        even, odd = (a.entry(*places[:-1], column.block) for a in self.args)
        return KroneckerDelta(column.place, 0) * even + KroneckerDelta(column.place, 1) * odd


class Lookup(Array):
    """Rows of a table chosen by numbers: row i of the result is row tokens[i] of the table."""

    def _infer(self) -> Shape:
        table, tokens = self.args
        require(tokens.kind == "integer", lambda: f"look-up in {table}: {tokens} must hold integers")
        require(
            len(table.shape) == 2 and len(tokens.shape) == 1,
            lambda: (
                f"look-up of {tokens} {shape_text(tokens.shape)} in {table} {shape_text(table.shape)}: "
                "a table of rank 2 and a vector of numbers are needed"
            ),
        )
        return (tokens.shape[0], table.shape[1])

    @property
    def kind(self) -> str:
        """The kind of the entries, which is that of the table."""
        return self.args[0].kind

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self._text(0, 3)}[{self.args[1]}]"

    def _entry(self, *places: Place) -> Expr:
        table, tokens = self.args
        # the entry E[t, j] itself; any other table is read by its rule, at the one p with [t = p] = 1
        if isinstance(table, Variable):
            return Indexed(table.base, tokens.entry(places[0]), flat(places[1]))
        return sum_along(
            table.shape[0],
            lambda p: KroneckerDelta(tokens.entry(places[0]), flat(p)) * table.entry(p, places[1]),
            avoiding(self, places),
        )


def _at(array: Array, places: tuple[Place, ...]) -> Expr:
    """Return the entry of an array. An array of rank 0 has the same entry at all indices."""
    return array.entry(*places) if array.shape else array.entry()


def _common(what: str, arrays: Any) -> Shape:
    shaped = [a for a in arrays if a.shape]
    if not shaped:
        return ()
    shape = shaped[0].shape
    for other in shaped[1:]:
        fits = len(other.shape) == len(shape) and all(map(same_size, shape, other.shape))
        if not fits:
            texts = f"shapes {shape_text(shape)} and {shape_text(other.shape)} differ"
            raise ShapeError(f"{what} of {shaped[0]} and {other}: {texts}{broadcast_hint(shaped[0], other)}")
        shape = tuple(map(join, shape, other.shape))
    return shape
