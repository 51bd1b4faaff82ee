r"""The printer of arrays, on top of the printer of scalars.

Arrays print as papers write them: products by juxtaposition, a quotient by a scalar as a fraction, row i of X as x_i.
A vector in every row prints as 1 b^T, and in every column as v 1^T; in a sum, an entrywise product or a function it
prints as b or v where an array beside it shows the shape, as in X W + b. In a notation with column vectors, every array
prints as the transpose of ours, but a variable keeps its letter: X W + b becomes W X + b, and Q K^T becomes K^T Q.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from sympy import Basic, Expr, Id, Indexed, Integer, KroneckerDelta, Lambda, Mul, Symbol, oo
from sympy.core.function import AppliedUndef

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.binding import fresh_index
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.deferred import Deferred, deferring
from derivations.language.arrays.expression import Array, Member, Scaled, Transpose, Variable
from derivations.language.arrays.masks import BandMask
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.scalars import LARGEST, SHARE, without_conditions
from derivations.language.arrays.selection import OneHot, Windows
from derivations.language.arrays.shapes import Axis, Blocks, Pair, Place, flat, total
from derivations.language.layers.layer import Apply, Layer, Repeat
from derivations.language.printing.broadcasts import gathered
from derivations.language.printing.entrywise import EntrywisePrinter, is_ones
from derivations.language.printing.letters import joined
from derivations.language.printing.typeset import ATOM, PRODUCT, SUM

__all__ = ["ArrayPrinter", "general_places", "stated_entry"]

_LEVELS = {
    "Plus": SUM,
    **dict.fromkeys(("SumOver", "ScatterRows", "RoutedProduct", "RowBroadcast", "ColumnBroadcast"), PRODUCT),
    "Product": PRODUCT,
    "Normalised": PRODUCT,
    "MaskConjunction": PRODUCT,
}


def stated_entry(value: Array, places: Sequence[Place]) -> Expr:
    """Return an entry of an array as a formula; the states of a recurrence without a closed form stay as entries."""
    try:
        return value.entry(*places)
    except NotImplementedError:
        if isinstance(value, Recurrence):
            return Deferred(value, *places)
        with deferring():
            shallow = cast(Deferred, value.entry(*places)).now()
        return shallow.xreplace({each: stated_entry(each.args[0], each.places) for each in shallow.atoms(Deferred)})


class ArrayPrinter(EntrywisePrinter):
    """The printer of arrays and scalars in a notation."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.functions: dict[Any, Array] = {}  # an application of each function of arrays printed by a name of ours
        self.parts: dict[str, Layer] = {}  # the layers that were printed by their names

    def function_of(self, applied: Array, name: str) -> str:
        """Return the printed name of an array function, and record the function so that the page defines it.

        Functions of one name are told apart by the ranks of their arguments and by their direction.
        """
        ranks = tuple(len(each.shape) for each in applied.args if isinstance(each, Array))
        self.functions.setdefault((name, type(applied), ranks, getattr(applied, "backwards", None)), applied)
        return self.function_name(name)

    def level(self, expr: Basic) -> int:
        """Return the precedence level of the printed form of an expression."""
        expr = gathered(expr) if isinstance(expr, Array) else expr
        name = expr.func.__name__
        if name == "Scaled":
            return self._scaled_level(expr)
        if name == "Member" and (family := _family_of(expr)) is not None:
            return self.level(family.args[0])
        if name == "Tabulated" and (factors := _of_vectors(expr)):
            return ATOM if len(factors) == 1 else PRODUCT
        if name == "Tabulated" and len(expr.shape) == 2:
            ones = _multiple_of_ones(expr)
            return self.level(ones) if ones else PRODUCT if is_ones(expr) else ATOM
        if name == "Hadamard":
            return self.hadamard_level(expr)
        if self._is_formula(expr):
            return self._in_place(expr)[1]
        if name == "RowSum" and isinstance(expr.args[0], Transpose):
            return PRODUCT
        return _LEVELS[name] if name in _LEVELS else super().level(expr)

    def _scaled_level(self, expr: Basic) -> int:
        negative, top, bottom = self._split(expr.args[0])
        if negative:
            return SUM
        if not bottom and top == [Integer(1)]:
            return self.level(expr.args[1])
        return PRODUCT if not bottom or self.slashed() else ATOM

    def _print(self, expr: Any, **kwargs: Any) -> str:
        """Print our nodes by our methods: SymPy also has nodes with names such as Product or Transpose."""
        if isinstance(expr, Basic):
            expr = without_conditions(expr)
        if isinstance(expr, Array):
            expr = gathered(expr)
        if isinstance(expr, AppliedUndef) and expr.func == LARGEST:
            return self._largest(expr)
        method = getattr(type(self), f"_print_{type(expr).__name__}", None)
        if isinstance(expr, Array) and (method is None or method.__module__.startswith("sympy.")):
            return self._print_Basic(expr)
        if kwargs or not isinstance(expr, Basic):
            return super()._print(expr, **kwargs)
        key = (type(expr), expr, self.first, self._inline, self.has_families, self.has_euler, *self._operands.items())
        if key not in self._printed:  # terms are sorted by their printed text, so each is printed several times
            self._printed[key] = super()._print(expr)
        return self._printed[key]

    # Leaves

    def _print_Variable(self, expr: Variable) -> str:
        return self.named(expr.name)

    def _print_Str(self, expr: Any) -> str:
        return self.words(expr.name)

    def _print_Member(self, expr: Member) -> str:
        base: Any = expr
        places: list[Any] = []
        while isinstance(base, Member):
            base, place = base.args
            places.insert(0, place)
        if base.func.__name__ == "_Family":
            # a member of an unnamed family prints as the family's body at that index
            body = base.args[0].xreplace({base.args[1]: places[0]})
            return self._print(body) if len(places) == 1 else self._print(Member(body, *places[1:]))
        texts = [self.place(place) for place in places]
        if isinstance(base, Variable):
            rank = len(base.shape)
            return self.named(base.name, texts, member=rank == 3, row=rank == len(places) + 1)
        return self.subscripted(self.wrapped(self._print(base)), ",".join(texts))

    def _print__Family(self, expr: Any) -> str:
        body, index, size = expr.args
        members = self._members(body, index, size)
        return self.wrapped(", ".join(members))

    def _print_Explicit(self, expr: Any) -> str:
        matrix = expr.args[0]
        # a matrix of numbers has no letter to keep, so its entries move
        return self._print(matrix.T if self.notation.columns else matrix)

    def _print_MatrixBase(self, expr: Any) -> str:
        rows = (" & ".join(self._print(entry) for entry in expr.row(i)) for i in range(expr.rows))
        return r"\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"

    _print_ImmutableDenseMatrix = _print_MutableDenseMatrix = _print_MatrixBase

    def _print_Tabulated(self, expr: Tabulated) -> str:
        formula = expr.args[0]
        if is_ones(expr) and len(expr.shape) == 1:
            return r"\mathbf{1}"
        if factors := _of_vectors(expr):
            names = [self.named(name) for name in factors]
            if len(names) == 1:
                return self.applied(self.function_name("diag"), names)
            # in column notation an array prints as its transpose: (y z^T)^T = z y^T
            left, right = reversed(names) if self.notation.columns else names
            return self.juxtaposed([left, self.power(right, self.notation.transpose)])
        if _is_identity(expr):
            return "I"
        if ones := _multiple_of_ones(expr):
            return self._print(ones)
        if is_ones(expr) and len(expr.shape) == 2:
            return self.juxtaposed([r"\mathbf{1}", self.power(r"\mathbf{1}", self.notation.transpose)])
        places = ",".join(self._letters(formula.variables))
        return self.subscripted(self.wrapped(self._print(formula.expr), "[]"), places)

    _print_Numbers = _print_Tabulated

    def _letters(self, places: Sequence[Place]) -> list[str]:
        letters = [self.place(flat(place)) for place in places]
        return letters[::-1] if self.notation.columns else letters

    def subscripted(self, text: str, below: str) -> str:
        """Return a text with a subscript."""
        return f"{text}_{{{below}}}"

    # Entries

    def _print_Contraction(self, expr: Contraction) -> str:
        places = general_places(expr)
        families, self.has_families = self.has_families, False  # its axes are of equal standing
        entry = self._print(stated_entry(expr, places))
        self.has_families = families
        return self.subscripted(self.wrapped(entry, "[]"), joined(self._letters(places))) if places else entry

    def _print_Deferred(self, expr: Deferred) -> str:
        return self.subscripted(self.operand(expr.args[0], ATOM), joined(self._letters(expr.places)))

    def _print_MaskConjunction(self, expr: Any) -> str:
        self.function_of(expr, "and")
        return super()._print_MaskConjunction(expr)

    def _print_RowMax(self, expr: Basic) -> str:
        return self.applied(self.function_of(expr, "rowmax"), list(map(self._print, expr.args)))

    def _largest(self, expr: Expr) -> str:
        """Print the largest of the entries that a sum runs over, restricted to those where the mask is 1."""
        terms = expr.args[0]
        factors = Mul.make_args(terms.function)
        (share,) = (factor for factor in factors if factor.func == SHARE)
        below = ",".join(self.place(index) for index, *_ in terms.limits)
        visible = [f"{self._print(factor)} = 1" for factor in factors if factor != share]
        body = self.operand(share.args[1], PRODUCT)
        return self.big("max", " : ".join([below, ", ".join(visible)]) if visible else below, "", body)

    # Linear algebra

    def _print_Product(self, expr: Basic) -> str:
        left, right = expr.args
        if len(left.shape) == 1 and len(right.shape) == 1:
            return rf"{self.operand(left, PRODUCT)} {self.dot} {self.operand(right, ATOM)}"
        if self.notation.columns and len(right.shape) == 1:
            return self.juxtaposed([self.transpose_of(left), self.factor(right, ATOM)])
        if len(right.shape) == 1 and isinstance(right, Member) and isinstance(right.args[0], Variable):
            # a row of a matrix stands to the left: K times row i of Q is q_i K^T
            return self.juxtaposed([self.factor(right, PRODUCT), self.transpose_of(left)])
        if self.notation.columns:  # (A B)^T = B^T A^T
            left, right = right, left
        levels = (ATOM, PRODUCT) if self.notation.columns else (PRODUCT, ATOM)  # a product of products keeps its order
        return self.juxtaposed([self.factor(left, levels[0]), self.factor(right, levels[1])])

    def _print_Plus(self, expr: Basic) -> str:
        left, right = map(self.beside, expr.args)
        text = self._in_sum(right)
        if not text:
            text = self._print(right) if self._is_negative(right) else self.operand(right, PRODUCT)
        first = self._in_sum(left) or self._print(left)
        return f"{first} - {text[1:].lstrip()}" if text.startswith("-") else f"{first} + {text}"

    def _in_sum(self, expr: Basic) -> str:
        """Return the printed number if all entries of an array are this number, else an empty text."""
        if not (isinstance(expr, Tabulated) and expr.shape and expr.kind == "real"):
            return ""
        formula = expr.args[0]
        return "" if formula.expr.has(*formula.variables) else self._print(formula.expr)

    def _is_negative(self, expr: Basic) -> bool:
        return expr.func.__name__ == "Scaled" and self._split(expr.args[0])[0]

    def _print_Scaled(self, expr: Basic) -> str:
        scalar, operand = expr.args
        if scalar == 0:
            return "0"
        # Q K^T / sqrt(d_k), as papers write it, and not 1/sqrt(d_k) Q K^T
        negative, top, bottom = self._split(scalar)
        sign = "-" if negative else ""
        top = [] if top == [Integer(1)] else top
        if bottom and not top and not self.slashed():
            return sign + self.over(self._print(operand), bottom)
        above = self.juxtaposed([*(self.operand(factor, ATOM) for factor in top), self.operand(operand, PRODUCT)])
        return sign + (self.over(above, bottom) if bottom else above)

    def _print_Transpose(self, expr: Transpose) -> str:
        return self.transposed(self.operand(expr.args[0], ATOM), expr.args[0])

    def _print_RowBroadcast(self, expr: Basic) -> str:
        return self.outer(None, expr.args[0])

    def _print_ColumnBroadcast(self, expr: Basic) -> str:
        return self.outer(expr.args[0], None)

    def _print_Concatenate(self, expr: Basic) -> str:
        body, over, size = expr.args
        return self.applied(self.notation.function("concat"), self._members(body, over, size))

    def _members(self, body: Array, over: Symbol, size: Axis) -> list[str]:
        """Return the first member of a family, dots and the last member, or all of at most three members."""
        last = total(size) - 1
        shown = range(int(last) + 1) if last.is_Integer and last < 3 else (0, last)
        texts = [self._print(body.xreplace({over: Integer(p) if isinstance(p, int) else p})) for p in shown]
        return texts if isinstance(shown, range) else [texts[0], self.dots, texts[1]]

    def _print_SumOver(self, expr: Basic) -> str:
        body, over, size = expr.args
        first, last = (self.place(end) for end in (Integer(0), total(size) - 1))
        return self.big("sum", f"{self.place(over)}={first}", last, self.operand(body, PRODUCT))

    def _print_PlacedBlock(self, expr: Basic) -> str:
        body, block, _ = expr.args
        return self.applied(self.subscripted(self.function_of(expr, "place"), self.place(block)), [self._print(body)])

    def _print_ColumnBlock(self, expr: Basic) -> str:
        wide, block = expr.args
        return self.subscripted(self.wrapped(self._print(wide), "[]"), self.place(block))

    # Functions of arrays

    def _print_RowSoftmax(self, expr: Basic) -> str:
        arguments = "; ".join(map(self._print, expr.args))
        return self.applied(self.notation.function("softmax"), [arguments])

    def _print_Lookup(self, expr: Basic) -> str:
        table, tokens = expr.args
        if isinstance(table, Variable):
            return self.named(table.name, [self._print(tokens)])
        return self.subscripted(self.wrapped(self._print(table)), self._print(tokens))

    def _print_RowSum(self, expr: Basic) -> str:
        if isinstance(expr.args[0], Transpose):  # the sums of the columns
            factors = [self.power(r"\mathbf{1}", self.notation.transpose), self.factor(expr.args[0].args[0], ATOM)]
            if self.notation.columns:
                factors = [self.factor(expr.args[0].args[0], PRODUCT), r"\mathbf{1}"]
            return self.juxtaposed(factors)
        return self.applied(self.function_of(expr, "rowsum"), [self._print(expr.args[0])])

    def _print_RowMean(self, expr: Basic) -> str:
        return self.applied(self.function_of(expr, "rowmean"), [self._print(expr.args[0])])

    def _print_RowLogSumExp(self, expr: Basic) -> str:
        return self.applied(self.function_of(expr, "logsumexp"), [self._print(expr.args[0])])

    def _print_Pick(self, expr: Basic) -> str:
        return self.applied(self.function_of(expr, "pick"), list(map(self._print, expr.args)))

    def _print_OneHot(self, expr: Basic) -> str:
        return self.applied(self.function_of(expr, "onehot"), [self._print(expr.args[0])])

    def _print_ScatterRows(self, expr: Basic) -> str:
        rows, tokens, size = expr.args
        # adding rows by number is a product with the transposed one-hot matrix
        chosen = self._print(OneHot(tokens, size))
        factors = [self.power(chosen, self.notation.transpose), self.operand(rows, ATOM)]
        return self.juxtaposed(factors[::-1] if self.notation.columns else factors)

    def _print_TopK(self, expr: Basic) -> str:
        scores, count = expr.args
        name = self.subscripted(self.function_of(expr, "top"), self._print(total(count)))
        return self.applied(name, [self._print(scores)])

    def _print_TopKMask(self, expr: Basic) -> str:
        scores, visible, count = expr.args
        name = self.subscripted(self.function_of(expr, "topmask"), self._print(total(count)))
        return self.applied(name, [f"{self._print(scores)}; {self._print(visible)}"])

    def _print_BatchTranspose(self, expr: Basic) -> str:
        return self.transposed(self.operand(expr.args[0], ATOM), expr.args[0])

    def _print_RoutedProduct(self, expr: Basic) -> str:
        rows, matrices, numbers = expr.args
        turned = matrices.func.__name__ == "BatchTranspose"
        family = matrices.args[0] if turned else matrices
        number = self._print(numbers)
        if isinstance(family, Variable):
            text = self.named(family.name, [number], member=True)
        else:
            text = self.subscripted(self.wrapped(self._print(family)), number)
        if turned:
            text = self.power(text, self.notation.transpose)
        factors = [self.factor(rows, PRODUCT), text]
        return self.juxtaposed(factors[::-1] if self.notation.columns else factors)

    def _print_RoutedOuter(self, expr: Basic) -> str:
        left, right, numbers, _ = expr.args
        name = self.subscripted(self.function_of(expr, "outer"), self._print(numbers))
        return self.applied(name, [self._print(left), self._print(right)])

    def _print_EveryOther(self, expr: Basic) -> str:
        wide, place = expr.args
        # our column 0 is the printed column 1, which is odd
        which = "even" if (place + self.first) % 2 == 0 else "odd"
        return self.subscripted(self.wrapped(self._print(wide), "[]"), self.word(which))

    def _print_Interleave(self, expr: Basic) -> str:
        return self.applied(self.function_of(expr, "Interleave"), list(map(self._print, expr.args)))

    def _print_Windows(self, expr: Basic) -> str:
        rows, width = expr.args
        name = self.subscripted(self.function_of(expr, "windows"), self._print(total(width)))
        return self.applied(name, [self._print(rows)])

    def _print_AddedWindows(self, expr: Basic) -> str:
        # adding windows up is the adjoint of taking them, and `windows` is linear
        windows = expr.args[0]
        name = self.function_of(Windows(expr, windows.shape[1].count), "windows")
        return self.applied(self.power(name, self.notation.transpose), [self._print(windows)])

    def _print_Recurrence(self, expr: Any) -> str:
        name = self.function_of(expr, "recurrence")
        name = self.subscripted(name, r"\leftarrow") if expr.backwards else name
        return self.applied(name, list(map(self._print, (*expr.args[:2], *expr.factors))))

    def _print_RowRange(self, expr: Basic) -> str:
        matrix, start, count, step = expr.args
        rows = self._rows_between(start, total(count), step)
        return self.subscripted(self.wrapped(self._print(matrix), "[]"), rows)

    def _rows_between(self, start: Basic, count: Basic, step: Basic) -> str:
        ends = [start, *([] if step == 1 else [start + step]), start + step * (count - 1)]
        texts = [self.place(end) for end in ends]
        return f"{texts[0]}:{texts[1]}" if step == 1 else ",".join([*texts[:2], self.dots, texts[2]])

    def _print_PlacedRows(self, expr: Basic) -> str:
        body, start, _, step = expr.args
        rows = self._rows_between(start, total(body.shape[0]), step)
        return self.applied(self.subscripted(self.function_of(expr, "place"), rows), [self._print(body)])

    def _print_ColumnRange(self, expr: Basic) -> str:
        matrix, start, along = expr.args
        columns = self._rows_between(start, total(along), Integer(1))
        whole = self.notation.columns  # then the columns of ours are rows
        places = f"{columns},:" if whole else f":,{columns}"
        return self.subscripted(self.wrapped(self._print(matrix), "[]"), places if len(expr.shape) == 2 else columns)

    def _print_ColumnConcatenation(self, expr: Basic) -> str:
        between = r" \\ " if self.notation.columns else " & "
        return r"\begin{bmatrix} " + between.join(map(self._print, expr.args)) + r" \end{bmatrix}"

    def _print_RowExponentials(self, expr: Basic) -> str:
        scores, base, *masks = expr.args
        name = self.function_of(expr, "rowpow")
        name = self.subscripted(name, self._print(base))
        return self.applied(name, list(map(self._print, (scores, *masks))))

    def _print_Normalised(self, expr: Basic) -> str:
        rows, sums = expr.args
        # diag(l)^-1 U divides row i of U by l_i
        inverse = self.power(self.applied(self.function_name("diag"), [self._print(sums)]), "-1")
        factors = [inverse, self.operand(rows, PRODUCT)]
        return self.juxtaposed(factors[::-1] if self.notation.columns else factors)

    def _print_Stacked(self, expr: Basic) -> str:
        return self.one_above_other([self._print(part) for part in expr.args])

    def one_above_other(self, parts: Sequence[str]) -> str:
        """Return stacked matrices: one below the other or, in a notation with column vectors, side by side."""
        return r"\begin{bmatrix} " + (" & " if self.notation.columns else r" \\ ").join(parts) + r" \end{bmatrix}"

    def _print_Chosen(self, expr: Basic) -> str:
        vector, numbers = expr.args
        return self.subscripted(self.wrapped(self._print(vector), "[]"), self._print(numbers))

    def _print_AddedEntries(self, expr: Basic) -> str:
        matrix, numbers, _ = expr.args
        name = self.subscripted(self.function_of(expr, "add"), self._print(numbers))
        return self.applied(name, [self._print(matrix)])

    _print_AddedPicks = _print_AddedEntries

    def _print_BucketNumber(self, expr: Any) -> str:
        return self.applied(self.function_name("bucket"), [self._print(expr.args[0])])

    _print_SignedBucketNumber = _print_BucketNumber

    def _print_RelativeBuckets(self, expr: Any) -> str:
        places = Symbol("i", integer=True), Symbol("j", integer=True)
        return self.subscripted(self.wrapped(self._print(expr.entry(*places)), "[]"), ",".join(self._letters(places)))

    _print_SignedBuckets = _print_RelativeBuckets

    def _print_Pullback(self, expr: Any) -> str:
        by = self.named(expr.name)
        layer = self._print(expr.applied)
        slope = self.power(f"{self.subscripted(self.differential.strip(), by)} {layer}", self.notation.transpose)
        return f"{slope}{self.wrapped(self._print(expr.cotangent), '[]')}"

    def _print_BandMask(self, expr: BandMask) -> str:
        sides = [self._print(total(along)) for along in expr.sides]
        return self.applied(self.function_of(expr, "Band"), [*sides, self._print(expr.lower), self._print(expr.upper)])

    def _print_CausalMask(self, expr: Basic) -> str:
        return self.applied(self.function_of(expr, "Causal"), [self._print(expr.args[0])])

    def _print_WindowMask(self, expr: Basic) -> str:
        return self.applied(self.function_of(expr, "Window"), [self._print(total(along)) for along in expr.args])

    def _print_Apply(self, expr: Apply) -> str:
        self.parts.setdefault(expr.layer.name, expr.layer)
        return self.applied(self.notation.function(expr.layer.name), self._arguments(expr))

    def _print_Repeat(self, expr: Repeat) -> str:
        self.parts.setdefault(expr.layer.name, expr.layer)
        name = self.subscripted(self.notation.function(expr.layer.name), f"1,{self.dots},{self._print(expr.count)}")
        return self.applied(name, self._arguments(expr))

    def _arguments(self, expr: Apply) -> list[str]:
        return [self._print(a) for a in expr.arguments] or [self._print(total(along)) for along in expr.shape]

    def _print_Rank(self, expr: Basic) -> str:
        return self.applied(self.function_name("rank"), [self._print(expr.args[0])])

    def _print_NullSpace(self, expr: Basic) -> str:
        return self.applied(self.function_name("null"), [self._print(expr.args[0])])

    def _print_Span(self, expr: Basic) -> str:
        if not expr.args:
            return r"\{0\}"
        return self.applied(self.function_name("span"), [self._print(array) for array in expr.args])

    def _print_SpectralNorm(self, expr: Basic) -> str:
        return rf"\lVert {self._print(expr.args[0])} \rVert"

    def _print_Supremum(self, expr: Any) -> str:
        ends = [(expr.low, expr.variable), (expr.variable, expr.high)]
        inside = [f"{self._print(a)} {self.relations['<=']} {self._print(b)}" for a, b in ends if oo not in (-a, b)]
        return self.big("sup", ", ".join(inside) or self._print(expr.variable), "", self._print(expr.formula))

    def _print_Conformable(self, expr: Basic) -> str:
        left, right = reversed(expr.args) if self.notation.columns else expr.args
        return rf"{self.juxtaposed([self._print(left), self._print(right)])}\ {self.word('conformable')}"

    def _print_Count(self, expr: Basic) -> str:
        what, layer, batch = expr.args
        arguments = [self.notation.function(layer.name), *([] if batch == 1 else [self._print(batch)])]
        return self.applied(self.count(what.name), arguments)

    def _print_Layer(self, expr: Any) -> str:
        return self.notation.function(expr.name)

    def _print_Basic(self, expr: Basic, **_: Any) -> str:
        """Print a node without a method of its own as a function of its operands."""
        return self.applied(self.function_name(expr.func.__name__), [self._print(arg) for arg in expr.args])


def general_places(value: Array) -> tuple[Place, ...]:
    """Return index letters for an entry of an array; an axis of blocks gets two if the array has a contraction."""
    taken, places = set(value.free_symbols), []
    pairs = value.has(Contraction)
    letters = [Symbol(name, integer=True) for name in ("i", "j", "k", "l", "u", "v", "w")]

    def letter() -> Symbol:
        free = (each for each in letters if each.name not in {symbol.name for symbol in taken})
        found = next(free, None) or fresh_index(taken)
        taken.add(found)
        return found

    for along in value.shape:
        places.append(Pair(letter(), letter(), along.size) if pairs and isinstance(along, Blocks) else letter())
    return tuple(places)


def _is_identity(expr: Tabulated) -> bool:
    formula = without_conditions(expr.args[0])
    square = len(expr.shape) == 2 and expr.shape[0] == expr.shape[1]
    return square and formula.expr == KroneckerDelta(*formula.variables)


def _multiple_of_ones(expr: Tabulated) -> Array | None:
    """Return c times the table of ones for a table of equal numbers c other than 0 and 1."""
    formula = expr.args[0]
    number = formula.expr
    if len(expr.shape) != 2 or number in (0, 1) or number.has(*formula.variables):
        return None
    return Scaled(number, Tabulated(Lambda(formula.variables, Integer(1)), *expr.args[1:]))


def _of_vectors(expr: Basic) -> tuple[str, ...]:
    """Return the names (y,) for a table diag(y) and (y, z) for a table y z^T, else an empty tuple."""
    formula = without_conditions(expr.args[0])
    parts = Mul.make_args(formula.expr)
    if len(expr.shape) != 2 or len(parts) != 2 or expr.args[0] == Id:
        return ()
    entries = {p.indices: str(p.base.label) for p in parts if isinstance(p, Indexed)}
    row, column = formula.variables
    if set(entries) == {(row,), (column,)}:
        return entries[row,], entries[column,]
    on_diagonal = KroneckerDelta(row, column) in parts and set(entries) in ({(row,)}, {(column,)})
    return tuple(entries.values()) if on_diagonal else ()


def _family_of(expr: Basic) -> Basic | None:
    """Return the unnamed family that an expression is a member of, if any."""
    while isinstance(expr, Member):
        expr = expr.args[0]
    return expr if expr.func.__name__ == "_Family" else None
