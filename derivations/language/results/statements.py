"""Terms and statements about whole matrices and functions: rank, null space, norm, supremum, conformability."""

from typing import Any

from sympy import Basic, Eq, Expr, Lambda, Symbol, oo, sympify
from sympy.logic.boolalg import Boolean
from sympy.printing.str import StrPrinter

from derivations.language.arrays.expression import Array
from derivations.language.arrays.shapes import total

__all__ = ["Conformable", "NullSpace", "Rank", "Span", "SpectralNorm", "Supremum"]


class Rank(Expr):
    """The rank of a matrix, as a term."""

    is_commutative = True

    def __new__(cls, matrix: Array) -> "Rank":
        """Build the term for a matrix."""
        return super().__new__(cls, matrix)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"rank({self.args[0]})"


class SpectralNorm(Expr):
    """The spectral norm of a matrix, its largest singular value, as a term."""

    is_commutative = True

    def __new__(cls, matrix: Array) -> "SpectralNorm":
        """Build the term for a matrix."""
        return super().__new__(cls, matrix)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"norm({self.args[0]})"


class NullSpace(Basic):
    """The null space of a matrix: all v with A v = 0."""

    def __new__(cls, matrix: Array) -> "NullSpace":
        """Build the space for a matrix."""
        return super().__new__(cls, matrix)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"null({self.args[0]})"


class Span(Basic):
    """The span of vectors and of the columns of matrices; the span of no arrays is {0}."""

    def __new__(cls, *arrays: Array) -> "Span":
        """Build the space for arrays with the same number of rows."""
        return super().__new__(cls, *arrays)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"span({', '.join(map(str, self.args))})"


class Supremum(Expr):
    """The supremum of a function of one real variable t over low <= t <= high; low and high may be infinite."""

    is_commutative = True

    def __new__(cls, function: Lambda, low: Any = -oo, high: Any = oo) -> "Supremum":
        """Build the term for a `Lambda` of one variable."""
        if len(function.variables) != 1:
            raise ValueError(f"a supremum is over one variable, not {len(function.variables)}")
        return super().__new__(cls, function, sympify(low, strict=True), sympify(high, strict=True))

    @property
    def variable(self) -> Symbol:
        """The bound variable."""
        return self.args[0].variables[0]

    @property
    def formula(self) -> Expr:
        """The value of the function at the variable."""
        return self.args[0].expr

    @property
    def low(self) -> Expr:
        """The least value of the variable."""
        return self.args[1]

    @property
    def high(self) -> Expr:
        """The greatest value of the variable."""
        return self.args[2]

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"sup({self.formula}, {self.low} <= {self.variable} <= {self.high})"


class Conformable(Boolean):
    """The statement that a product of two matrices can be formed."""

    def __new__(cls, left: Array, right: Array) -> "Conformable":
        """Build the statement for two arrays."""
        return super().__new__(cls, left, right)

    @property
    def condition(self) -> Any:
        """The condition that the inner sizes are equal."""
        left, right = self.args
        return Eq(total(left.shape[-1]), total(right.shape[0]), evaluate=False)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self.args[0]} @ {self.args[1]} conforms"
