"""From the expressions of a layer to NumPy expressions over arrays with leading batch axes.

All rules follow three conventions. The axes of an expression are the last axes of its array, so that batch axes in
front need no mention. In a family over an index the members form one more axis, just before the axes of a member:
`Q[i]` is `Q`, and an expression that does not depend on the index gets an axis of length 1 there. A vector in every row
is left to broadcasting, unless its full shape is asked for. Scalars of sizes are Python numbers (`math.sqrt`), which
keep float32 arrays in float32.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sympy import And, Basic, Expr, Integer, Lambda, Symbol, expand, oo, together
from sympy.core.symbol import Str

from derivations.language.arrays.arrangements import ColumnBlock, SumOver, Tabulated
from derivations.language.arrays.buckets import SignedBuckets
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.exponentials import RowExponentials
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Member,
    Plus,
    Product,
    RowBroadcast,
    Scaled,
    Transpose,
    Variable,
)
from derivations.language.arrays.functions import BandMask, Elementwise, Hadamard, MaskConjunction
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.routing import RoutedOuter
from derivations.language.arrays.scalars import brackets
from derivations.language.arrays.selection import ScatterRows
from derivations.language.arrays.shapes import Axis, total
from derivations.language.differentiation.tape import Pulled
from derivations.language.layers.layer import Apply, Equation, Layer, Repeat
from numeric.codegen.contractions import Writer, contraction_text
from numeric.codegen.formula_printer import CompileError, FormulaPrinter, quotient
from numeric.codegen.syntax import names_in, tidied
from numeric.runtime.structure import identifier, weight_tree

__all__ = ["AxisLength", "Call", "NumPyLayerPrinter", "Verbatim"]

ELEMENTWISE = (Scaled, Plus, Hadamard, MaskConjunction, Elementwise)


class AxisLength(Basic):
    """The length of an axis of an array, counted from the end: `AxisLength(X, -1)` is `X.shape[-1]`."""


@dataclass(frozen=True)
class Call:
    """How a layer is called: the function's name, the sizes that it needs with their values here, its scalars."""

    name: str
    sizes: dict[str, Expr]
    scalars: tuple[str, ...]


class Verbatim(Basic):
    """A text of Python that is printed unchanged."""

    def __new__(cls, text: str | Str) -> "Verbatim":
        """Return the node of a text."""
        return super().__new__(cls, text if isinstance(text, Str) else Str(text))

    def __str__(self) -> str:
        """Return the text."""
        return self.args[0].name


class NumPyLayerPrinter(FormulaPrinter):
    """Prints the right-hand sides of one layer's equations: one method for each node."""

    def __init__(
        self,
        layer: Layer,
        names: Mapping[Basic, str],
        call: Callable[[Apply | Pulled], Call],
        taken: Iterable[str],
        saved: Iterable[Variable] = (),
    ) -> None:
        super().__init__(names, taken)
        self._names, self._call = names, call
        self.results: dict[Pulled, str] = {}  # the names of the results of backward passes, filled in line by line
        self._family: Symbol | None = None
        self._target = ""
        self._dtype_of = _typed(layer, names)  # an array whose number type the constants of the layer take
        self._casting = self._dtype_of is None
        self._batched: set[Variable] = set(layer.inputs)
        self._constant: set[Variable] = set()
        for equation in layer.equations:
            if self._is_batched(equation.value):
                self._batched.add(equation.variable)
            if self._casting and self._is_constant(equation.value):
                self._constant.add(equation.variable)

    # Dispatch

    def doprint(self, expr: Basic | str, assign_to: None = None) -> str:
        """Return an expression as one line of Python, spaced as usual and without needless parentheses."""
        if isinstance(expr, str | Verbatim):
            return str(expr)
        self._taken = set(self._reserved)
        return tidied(self._print(expr))

    def _print(self, expr: Any, **settings: Any) -> str:
        if isinstance(expr, Array) and not self._casting and expr.kind == "real" and self._is_constant(expr):
            with self._with(_casting=True):
                return self._cast_like(super()._print(expr, **settings), str(self._dtype_of))
        return super()._print(expr, **settings)

    def _cast_like(self, text: str, array: str) -> str:
        """Return the text of an array of constants in the number type of another array."""
        return self._cast(text, f"{array}.dtype")

    # Dependence on inputs, constants and the index of a family

    def _is_batched(self, expr: Basic) -> bool:
        return any(leaf in self._batched for leaf in _leaves(expr))

    def _is_constant(self, expr: Basic) -> bool:
        return all(
            isinstance(leaf, Variable) and (leaf.kind != "real" or leaf in self._constant) for leaf in _leaves(expr)
        )

    def _varies(self, expr: Basic) -> bool:
        return self._family is not None and self._family in expr.free_symbols

    # Equations and names

    def _print_Equation(self, equation: Equation) -> str:
        family, count = equation.over or (None, None)
        alike = count is not None and family not in equation.value.free_symbols  # all members are one array
        with self._with(_family=None if alike else family, _target=self._names[equation.variable]):
            exact = self._real if equation.variable.kind == "real" else self._exact
            text = exact(equation.value)
        return self._repeated(text, count, len(equation.value.shape)) if alike and count is not None else text

    def _repeated(self, member: str, count: Axis, rank: int) -> str:
        """Print a family whose members are all the same array of a given rank."""
        return f"{self._arrays}.stack([{member}] * {self._scalar.whole(total(count))}, axis={-rank - 1})"

    def _print_Variable(self, variable: Variable) -> str:
        name = self._names[variable]
        if self._family is None or variable not in self._batched:
            return name
        # an input without members gets the axis of members, of length 1
        return f"{name}[..., None{', :' * len(variable.shape)}]"

    def _print_AxisLength(self, node: AxisLength) -> str:
        return f"{self._names[node.args[0]]}.shape[{node.args[1]}]"

    def _print_Member(self, node: Member) -> str:
        family, place = node.args
        if place == self._family:
            with self._with(_family=None):
                return self._exact(family)
        if self._varies(place):
            raise CompileError(f"{node}: the member at {place} in a family over {self._family} has no NumPy form yet")
        return f"{self._exact(family)}[..., {self._scalar._print(place)}{', :' * len(node.shape)}]"

    # Linear algebra

    def _print_Product(self, node: Array) -> str:
        left, right = map(self._real, node.args)
        # matmul takes an array of one axis for a single vector, so a batch of vectors gets an axis of length 1
        match len(node.args[0].shape), len(node.args[1].shape):
            case 2, 2:
                return f"({left} @ {right})"
            case 1, 2:
                return f"({left}[..., None, :] @ {right})[..., 0, :]"
            case 2, 1:
                return f"({left} @ {right}[..., None])[..., 0]"
            case _:
                # `@` would take two batches of vectors for two matrices
                return f"({left} * {right}).sum(axis=-1)"

    def _print_Plus(self, node: Plus) -> str:
        left, right = node.args
        if isinstance(right, Scaled) and right.args[0].could_extract_minus_sign():
            scalar, array = -right.args[0], right.args[1]
            return f"({self._as_real(left)} - {self._as_real(array if scalar == 1 else Scaled(scalar, array))})"
        return f"({self._as_real(left)} + {self._as_real(right)})"

    def _print_Scaled(self, node: Scaled) -> str:
        scalar, array = node.args
        if self._varies(scalar):
            raise CompileError(f"{node}: a factor that depends on the index {self._family} has no NumPy form yet")
        return self._times(scalar, self._as_real(array))

    def _times(self, scalar: Expr, text: str) -> str:
        """Return the text of an array times a number."""
        numerator, denominator = quotient(scalar)
        sign = "-" if numerator.could_extract_minus_sign() else ""
        factor = -numerator if sign else numerator
        times = "" if factor == 1 else f"({self._scalar._print(factor)}) * "
        over = "" if denominator == 1 else f" / ({self._scalar._print(denominator)})"
        return f"({sign}{times}{text}{over})"

    def _print_Transpose(self, node: Array) -> str:
        return f"{self._exact(node.args[0])}.mT"

    def _print_RowBroadcast(self, node: RowBroadcast) -> str:
        vector = node.args[0]
        text = self._print(vector)
        return f"{text}[..., None, :]" if self._is_batched(vector) or self._varies(vector) else text

    def _print_ColumnBroadcast(self, node: ColumnBroadcast) -> str:
        return f"{self._print(node.args[0])}[..., None]"

    def _exact(self, node: Array) -> str:
        """Print an array in its full shape, with no axis left to broadcasting."""
        return self._stretched(self._print(node), node)

    def _stretched(self, text: str, node: Array) -> str:
        return f"stretch({text}, {self._lengths(node)})" if _left_to_broadcasting(node) else text

    def _as_real(self, node: Array) -> str:
        """Print an array as real numbers of the layer's type: NumPy's arithmetic differs for masks and integers."""
        text = self._print(node)
        if node.kind == "real":
            return text
        return self._cast(text, self._float64 if self._casting else f"{self._dtype_of}.dtype")

    def _real(self, node: Array) -> str:
        """Print an array as real numbers, in its full shape."""
        return self._stretched(self._as_real(node), node)

    def _lengths(self, node: Array) -> str:
        return ", ".join(self._scalar.whole(total(along)) for along in node.shape)

    # Blocks of columns

    def _print_Concatenate(self, node: Array) -> str:
        body, over, count = node.args
        if self._family is not None:
            raise CompileError(f"{node}: a concatenation in a family over {self._family} has no NumPy form yet")
        alike = over not in body.free_symbols
        with self._with(_family=None if alike else over):
            blocks = self._exact(body)
        if alike:
            blocks = self._repeated(blocks, count, len(body.shape))
        if len(body.shape) == 1:
            return f"concatenate_heads({blocks}[..., None, :])[..., 0, :]"
        return f"concatenate_heads({blocks})"

    def _print_ColumnBlock(self, node: Array) -> str:
        wide, block = node.args
        columns = wide.shape[-1]
        if block == self._family:
            with self._with(_family=None):
                return self._split(self._exact(wide), wide)
        if self._varies(block):
            raise CompileError(f"{node}: block {block} in a family over {self._family} has no NumPy form yet")
        first, end = (self._scalar.whole(number * columns.size) for number in (block, block + 1))
        return f"{self._exact(wide)}[..., {first}:{end}]"

    def _split(self, text: str, wide: Array) -> str:
        """Return all blocks of columns of an array, or of a vector, one after another."""
        count = self._scalar.whole(wide.shape[-1].count)
        if len(wide.shape) == 1:
            return f"split_heads({text}[..., None, :], {count})[..., 0, :]"
        return f"split_heads({text}, {count})"

    def _print_PlacedBlock(self, node: Array) -> str:
        body, block, count = node.args
        return f"place_block({self._exact(body)}, {self._scalar.whole(block)}, {self._scalar.whole(total(count))})"

    def _print_ColumnRange(self, node: Array) -> str:
        matrix, start, along = node.args
        first, end = (self._scalar.whole(number) for number in (start, expand(start + total(along))))
        return f"{self._exact(matrix)}[..., {first}:{end}]"

    def _print_ColumnConcatenation(self, node: Array) -> str:
        return f"concatenate_columns({', '.join(map(self._exact, node.args))})"

    def _print_Interleave(self, node: Array) -> str:
        return f"interleave({', '.join(map(self._exact, node.args))})"

    def _print_Contraction(self, node: Contraction) -> str:
        if self._varies(node) or self._family is not None:
            raise CompileError(f"{node}: a contraction in a family over {self._family} has no NumPy form yet")
        array = self._real if node.kind == "real" else self._exact
        writer = Writer(array, self._scalar.whole, self._factor_table, self._times, f"{self._arrays}.einsum")
        return contraction_text(node, writer)

    def _factor_table(self, formula: Lambda, sizes: list[Expr]) -> str:
        return self._exact(Tabulated(formula, *sizes))

    # Functions of rows, look-ups, masks

    def _print_RowSoftmax(self, node: Array) -> str:
        array, *masks = node.args
        if masks:
            return f"masked_row_softmax({self._exact(array)}, {self._print(masks[0])})"
        return f"row_softmax({self._exact(array)})"

    def _print_RowExponentials(self, node: RowExponentials) -> str:
        scores, base = self._exact(node.args[0]), self._scalar.whole(node.base)
        if node.mask is not None:
            return f"masked_row_exponentials({scores}, {self._print(node.mask)}, {base})"
        return f"row_exponentials({scores}, {base})"

    def _print_RowMax(self, node: Array) -> str:
        if len(node.args) == 2:
            return f"masked_row_max({self._exact(node.args[0])}, {self._print(node.args[1])})"
        return f"{self._exact(node.args[0])}.max(axis=-1)"

    def _print_Normalised(self, node: Array) -> str:
        return f"normalised({', '.join(map(self._exact, node.args))})"

    def _print_RowLogSumExp(self, node: Array) -> str:
        return f"row_log_sum_exp({self._exact(node.args[0])})"

    def _print_RowSum(self, node: Array) -> str:
        array = node.args[0]
        if isinstance(array, Transpose):
            return f"{self._real(array.args[0])}.sum(axis=-2)"
        return f"{self._real(array)}.sum(axis=-1)"

    def _print_SumOver(self, node: Array) -> str:
        body, over, _ = node.args
        if self._family is not None:
            raise CompileError(f"{node}: a sum in a family over {self._family} has no NumPy form yet")
        with self._with(_family=over):
            return f"{self._real(body)}.sum(axis={-1 - len(body.shape)})"

    def _print_RowMean(self, node: Array) -> str:
        return f"{self._real(node.args[0])}.mean(axis=-1)"

    def _print_Lookup(self, node: Array) -> str:
        table, tokens = node.args
        if self._each_has_own(table):
            return f"look_up({self._exact(table)}, {self._exact(tokens)})"
        return f"{self._exact(table)}[{self._print(tokens)}]"

    def _each_has_own(self, table: Array) -> bool:
        """Return whether each item of a batch, or each member of a family, has a separate table."""
        return self._is_batched(table) or self._varies(table)

    def _print_Pick(self, node: Array) -> str:
        matrix, tokens = map(self._exact, node.args)
        if len(node.shape) == 2:  # a row is a table whose rows are its entries
            return f"look_up({matrix}[..., None], {tokens})[..., 0]"
        return f"pick({matrix}, {tokens})"

    def _print_AddedPicks(self, node: Array) -> str:
        picked, numbers, size = node.args
        columns = self._scalar.whole(total(size))
        return f"add_rows({self._real(picked)}[..., None], {self._exact(numbers)}, {columns})[..., 0]"

    def _print_OneHot(self, node: Array) -> str:
        tokens, size = self._exact(node.args[0]), self._scalar.whole(total(node.args[1]))
        return self._cast(f"({tokens}[..., None] == {self._arange(size)})", self._float64)

    def _arange(self, count: str) -> str:
        return f"{self._arrays}.arange({count})"

    def _print_ScatterRows(self, node: Array) -> str:
        return self._scattered("add_rows", node)

    def _scattered(self, name: str, node: Array) -> str:
        rows, tokens, size = node.args
        return f"{name}({self._real(rows)}, {self._exact(tokens)}, {self._scalar.whole(total(size))})"

    def _print_TopK(self, node: Array) -> str:
        scores, count = node.args
        return f"top_k({self._exact(scores)}, {self._scalar.whole(total(count))})"

    def _print_TopKMask(self, node: Array) -> str:
        scores, visible, count = node.args
        return f"top_k_mask({self._exact(scores)}, {self._print(visible)}, {self._scalar.whole(total(count))})"

    def _print_BatchTranspose(self, node: Array) -> str:
        return f"{self._exact(node.args[0])}.mT"

    def _print_RoutedProduct(self, node: Array) -> str:
        rows, matrices, numbers = node.args
        if self._is_batched(matrices) or self._varies(matrices):
            raise CompileError(f"{node}: matrices {matrices} for each item of a batch have no NumPy form yet")
        return f"routed_product({self._exact(rows)}, {self._exact(matrices)}, {self._exact(numbers)})"

    def _print_RoutedOuter(self, node: Array) -> str:
        return self._routed_outer("routed_outer", node)

    def _routed_outer(self, name: str, node: Array) -> str:
        *operands, count = node.args
        return f"{name}({', '.join(map(self._exact, operands))}, {self._scalar.whole(total(count))})"

    def _print_Windows(self, node: Array) -> str:
        return f"windows({self._exact(node.args[0])}, {self._scalar.whole(total(node.args[1]))})"

    def _print_AddedWindows(self, node: Array) -> str:
        return f"add_windows({self._exact(node.args[0])}, {self._scalar.whole(total(node.args[1]))})"

    def _print_Recurrence(self, node: Recurrence) -> str:
        decays, added, *factors = map(self._real, (*node.args[:2], *node.factors))
        ranks = f"{len(node.args[0].shape)}, {len(node.shape)}, {node.backwards}"
        if factors:
            return (
                f"corrected_recurrence({decays}, {added}, {', '.join(factors)}, {len(node.factors[0].shape)}, {ranks})"
            )
        return f"recurrence({decays}, {added}, {ranks})"

    def _print_RowRange(self, node: Array) -> str:
        numbers = (node.args[1], together(total(node.args[2])), node.args[3])  # n/5 + 1 is a quotient too
        return f"take_rows({self._exact(node.args[0])}, {', '.join(map(self._scalar.whole, numbers))})"

    def _print_PlacedRows(self, node: Array) -> str:
        numbers = (node.args[1], total(node.args[2]), node.args[3])
        return f"place_rows({self._exact(node.args[0])}, {', '.join(map(self._scalar.whole, numbers))})"

    def _print_Stacked(self, node: Array) -> str:
        return f"stack_rows({', '.join(map(self._exact, node.args))})"

    def _print_Chosen(self, node: Array) -> str:
        table, numbers = node.args
        if self._varies(node):
            raise CompileError(f"{node}: a look-up that depends on the index {self._family} has no NumPy form yet")
        return f"choose({self._exact(table)}, {self._exact(numbers)})"

    def _print_AddedEntries(self, node: Array) -> str:
        matrices, numbers, size = node.args
        return f"add_entries({self._exact(matrices)}, {self._exact(numbers)}, {self._scalar.whole(total(size))})"

    def _print_RelativeBuckets(self, node: Array) -> str:
        sizes = ", ".join(self._scalar.whole(total(along)) for along in node.args[:4])
        signed = isinstance(node, SignedBuckets)
        return f"signed_buckets({sizes})" if signed else f"relative_buckets({sizes}, {bool(node.args[4])})"

    def _print_EveryOther(self, node: Array) -> str:
        return f"{self._exact(node.args[0])}[..., {node.args[1]}::2]"

    def _print_BandMask(self, node: BandMask) -> str:
        if node.lower == -oo:
            return self._up_to(node, node.upper)
        if node.upper == oo:
            return f"(~{self._up_to(node, node.lower - 1)})"
        # lower <= j - i <= upper is (j <= i + upper) and not (j <= i + lower - 1)
        return f"({self._up_to(node, node.upper)} & ~{self._up_to(node, node.lower - 1)})"

    def _up_to(self, mask: BandMask, bound: Expr) -> str:
        """Return the mask of the keys j <= i + bound."""
        rows, columns = map(total, mask.sides)
        across = "" if rows == columns else f", {self._scalar.whole(columns)}"
        if bound == oo:
            return f"{self._arrays}.ones(({self._scalar.whole(rows)}, {self._scalar.whole(columns)}), dtype=bool)"
        shift = "" if bound == 0 else f", k={self._scalar.whole(bound)}"
        return f"{self._arrays}.tri({self._scalar.whole(rows)}{across}{shift}, dtype=bool)"

    _print_CausalMask = _print_WindowMask = _print_BandMask

    def _print_MaskConjunction(self, node: Array) -> str:
        return f"({self._print(node.args[0])} & {self._print(node.args[1])})"

    # Entries: functions and tables given by a formula

    def _print_Hadamard(self, node: Array) -> str:
        if _is_ones(node.args[1]):
            return f"stretch({self._aligned(node.args[0], len(node.shape))}, {self._lengths(node)})"
        discrete = all(a.kind != "real" for a in node.args)
        left, right = (self._aligned(a, len(node.shape), discrete or a.kind == "integer") for a in node.args)
        return f"({left} * {right})"

    def _print_Elementwise(self, node: Elementwise) -> str:
        function, *arrays = node.args
        texts = [self._aligned(a, len(node.shape), node.kind == "real") for a in arrays]
        if not (set(function.formula.variables) & function.formula.expr.free_symbols):
            value = self._scalar._print(function.formula.expr)
            exact = self._real if node.kind == "real" else self._exact
            return f"{self._arrays}.full_like({exact(arrays[0])}, {value})"
        return self._entries(node, function.formula, texts)

    def _entries(self, node: Array, formula: Lambda, texts: list[str]) -> str:
        """Print a formula of entries: a mask as its conditions, integers in their own number type."""
        if node.kind == "boolean":
            return self._formula(Lambda(formula.variables, And(*brackets(formula.expr), evaluate=False)), texts)
        return self._formula(formula, texts, dtype=self._int64 if node.kind == "integer" else None)

    def _print_Tabulated(self, node: Array) -> str:
        formula, *axes = node.args
        if self._varies(node):
            raise CompileError(f"{node}: a table that depends on the index {self._family} has no NumPy form yet")
        shape = ", ".join(self._scalar.whole(total(along)) for along in axes)
        used = [place in formula.expr.free_symbols for place in formula.variables]
        if not any(used):
            shape = f"({shape},)" if axes else "()"
            if node.kind == "boolean":
                value = " and ".join(self._scalar._print(condition) for condition in brackets(formula.expr))
            else:
                value = f"{'int' if node.kind == 'integer' else 'float'}({self._scalar._print(formula.expr)})"
            return self._table(f"{self._arrays}.full({shape}, {value})", node)
        places = []
        for number, along in enumerate(axes, start=1):
            behind = ", None" * (len(axes) - number)
            count = self._scalar.real(total(along)) if node.kind == "real" else self._scalar.whole(total(along))
            places.append(self._arange(count) + (f"[:{behind}]" if behind else ""))
        if node.kind == "real":
            text = self._table(self._formula(formula, places, dtype=self._float64), node)
        else:
            text = self._table(self._entries(node, formula, places), node)
        return text if all(used) else f"stretch({text}, {shape})"

    def _table(self, text: str, node: Array) -> str:
        """Return the entries of a table, which depend on sizes and scalars alone."""
        return text

    def _print_Explicit(self, node: Array) -> str:
        rows = (", ".join(map(self._scalar._print, row)) for row in node.args[0].tolist())
        return f"{self._arrays}.array([{', '.join(f'[{row}]' for row in rows)}], dtype={self._float64})"

    def _aligned(self, node: Array, rank: int, real: bool = True) -> str:
        text = self._as_real(node) if real else self._print(node)
        if node.shape or not rank or not (self._is_batched(node) or self._varies(node)):
            return text
        return f"{text}[...{', None' * rank}]"

    # Layers in layers

    def _print_Apply(self, node: Apply) -> str:
        bound = frozenset(node.bound)
        weights = [f"**{identifier(node.name)}"] if weight_tree(node.layer, bound) else []
        return self._called(node, [self._exact(a) for a in node.arguments], weights)

    def _print_Repeat(self, node: Repeat) -> str:
        first, *rest = (self._exact(a) for a in node.arguments)
        # the loop variable has the name of the result, unless another argument reads an array of that name
        used = names_in("\n".join(rest))
        value = self._target if self._target not in used else self._fresh(node.layer.inputs[0].name)
        weights = self._fresh("weights")
        if weight_tree(node.layer, frozenset(node.bound)):
            body = self._called(node, [value, *rest], [f"**{weights}"])
            return f"reduce(lambda {value}, {weights}: {body}, {identifier(node.name)}, {first})"
        body = self._called(node, [value, *rest], [])
        return f"reduce(lambda {value}, _: {body}, range({self._scalar.whole(node.count)}), {first})"

    def _called(self, node: Apply, arguments: list[str], weights: list[str]) -> str:
        call = self._call(node)
        return f"{call.name}({', '.join([*arguments, *weights, *self._named(node, call, bool(weights))])})"

    def _named(self, node: Any, call: Call, by_name: bool) -> list[str]:
        """Return the further arguments of a layer after its inputs and weights: bound parameters, sizes, scalars."""
        for name, value in node.bound.items():
            if self._is_batched(value) or self._varies(value):
                raise CompileError(f"{node}: the parameter {name} is bound to {value}, which is not a weight")
        bound = [f"{identifier(name)}={self._exact(value)}" for name, value in node.bound.items()]
        sizes = [
            f"{name}={self._scalar.whole(size)}" if bound or by_name else self._scalar.whole(size)
            for name, size in call.sizes.items()
        ]
        return [*bound, *sizes, *(f"{name}={name}" for name in call.scalars)]

    # Both passes of a gradient

    def summed_over_batch(self, equation: Equation) -> str:
        """Return the right-hand side of the gradient for a weight: its terms, each summed over the batch."""
        with self._with(_family=equation.over[0] if equation.over else None):
            texts = [self._summed(term, len(equation.variable.shape)) for term in _terms(equation.value)]
        self._taken = set(self._reserved)
        return tidied(" + ".join(texts))

    def _summed(self, term: Array, rank: int) -> str:
        factor, array = term.args if isinstance(term, Scaled) else (Integer(1), term)
        # each term is summed as it is computed where a primitive can: sum_b A_b^T B_b is one product over all rows
        if isinstance(array, Pulled) and "[" in self.results[array]:
            return self._print(term)  # a backward pass returns gradients with respect to weights summed over the batch
        if isinstance(array, ScatterRows) and self._family is None:
            table = self._scattered("scatter_rows", array)
            return table if factor == 1 else f"({self._scalar._print(factor)}) * {table}"
        if isinstance(array, ColumnBlock) and array.args[1] == self._family and factor == 1:
            with self._with(_family=None):  # a block of a sum is the sum of the blocks
                return self._split(self._summed(array.args[0], rank - 1), array.args[0])
        if isinstance(array, Product) and isinstance(array.args[0], Transpose) and self._family is None:
            left, right = self._exact(array.args[0].args[0]), self._exact(array.args[1])
            product = f"product_over_batch({left}, {right})"
            return product if factor == 1 else f"({self._scalar._print(factor)}) * {product}"
        if isinstance(array, SumOver) and isinstance(array.args[0], RoutedOuter) and self._family is None:
            with self._with(_family=array.args[1]):
                product = self._routed_outer("routed_outer_over_batch", array.args[0])
            return product if factor == 1 else f"({self._scalar._print(factor)}) * {product}"
        return f"sum_batch({self._exact(term)}, {rank})"

    def forward_call(self, equation: Equation) -> str:
        """Return the call of the forward pass of an applied layer, which returns its value and its tape."""
        node, family = equation.value, equation.over[0] if equation.over else None
        with self._with(_family=family):
            arguments = [self._exact(a) for a in node.arguments]
            call = self._call(node)
            own = bool(weight_tree(node.layer, frozenset(node.bound)))
            if isinstance(node, Repeat):
                stack = identifier(node.name) if own else f"[{{}}] * {self._scalar.whole(node.count)}"
                given = [call.name, arguments[0], stack, *arguments[1:], *self._named(node, call, True)]
                return tidied(f"forward_through({', '.join(given)})")
            weights = [f"**{identifier(node.name)}"] if own else []
            return tidied(f"{call.name}({', '.join([*arguments, *weights, *self._named(node, call, True)])})")

    def backward_call(self, node: Pulled, over: Symbol | None) -> str:
        """Return the call of the backward pass of an applied layer, which returns all of its gradients."""
        with self._with(_family=over):
            call, given = self._call(node), [self._exact(node.args[1]), self._names[node.args[0]]]
            own = bool(weight_tree(node.layer, frozenset(node.bound)))
            if node.count:
                stack = identifier(node.part) if own else f"[{{}}] * {self._scalar.whole(node.count)}"
                return tidied(
                    f"backward_through({', '.join([call.name, *given, stack, *self._named(node, call, True)])})"
                )
            weights = [f"**{identifier(node.part)}"] if own else []
            return tidied(f"{call.name}({', '.join([*given, *weights, *self._named(node, call, True)])})")

    def _print_Pulled(self, node: Pulled) -> str:
        return self.results[node]


def _terms(value: Array) -> list[Array]:
    """Return the terms of a sum."""
    return [term for part in value.args for term in _terms(part)] if isinstance(value, Plus) else [value]


def _is_ones(node: Basic) -> bool:
    return isinstance(node, Tabulated) and node.args[0].expr == 1


def _leaves(node: Basic) -> Iterator[Basic]:
    """Yield the variables of an expression, and the applications of layers that have weights of their own."""
    if isinstance(node, Variable):
        yield node
        return
    if isinstance(node, Apply) and weight_tree(node.layer, frozenset(node.bound)):
        yield node
    for child in node.args:
        if not isinstance(child, Layer):
            yield from _leaves(child)


def _written(node: Array) -> list[Array]:
    """Return the operands that occur in the text of an entrywise operation: a formula need not read all of them."""
    if not isinstance(node, Elementwise):
        return [a for a in node.args if isinstance(a, Array)]
    function, *arrays = node.args
    used = function.formula.expr.free_symbols
    return [a for variable, a in zip(function.formula.variables, arrays, strict=True) if variable in used]


def _left_to_broadcasting(node: Array) -> bool:
    if not node.shape:
        return False
    if isinstance(node, ELEMENTWISE):
        shaped = [a for a in _written(node) if a.shape]
        return all(map(_left_to_broadcasting, shaped)) if shaped else False
    return isinstance(node, RowBroadcast | ColumnBroadcast)


def _typed(layer: Layer, names: Mapping[Basic, str]) -> str | None:
    """Return the text of an array with the number type of a layer: an input, a parameter or a weight of a part."""
    real = [variable for variable in (*layer.inputs, *layer.parameters) if variable.kind == "real"]
    if real:
        return names[real[0]]
    tree, path = weight_tree(layer), ""
    while tree.parts:
        name, tree = next(iter(tree.parts.items()))
        path = (f"{path}[{name!r}]" if path else name) + ("" if tree.count is None else "[0]")
        if tree.parameters:
            return f"{path}[{next(iter(tree.parameters))!r}]"
    return None
