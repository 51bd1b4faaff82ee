"""`assert_equal`: an equality of expressions as a test, decided by the judge for all values and sizes.

Result       proved: a report with the assumptions; refuted: an `AssertionError` with numbers for which the two sides
             differ; neither: an `AssertionError` that says unknown. No comparison uses floating point
Raises       TypeError for text, which is never evaluated, and for any other object that is not an expression

>>> from sympy import Symbol, exp
>>> x = Symbol("x")
>>> print(assert_equal(1 / (1 + exp(-x)), exp(x) / (1 + exp(x))))
proved for all values; taken: x is real
>>> assert_equal((x + 1) ** 2, x**2 + 1)  # doctest: +ELLIPSIS
Traceback (most recent call last):
AssertionError: refuted: (x + 1)**2 = x**2 + 1 does not hold: at x = ... the left side is ...
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sympy import (
    Basic,
    Derivative,
    Eq,
    Expr,
    Ge,
    Gt,
    MatrixBase,
    MatrixExpr,
    Symbol,
    SympifyError,
    false,
    sympify,
    true,
)
from sympy.core.relational import Relational

from derivations.catalogue import get, layer
from derivations.language.arrays.expression import Array
from derivations.language.arrays.scalars import Expectation, Variance
from derivations.language.judge.proof import StepEvidence, prove_equal
from derivations.language.layers.layer import Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, step
from derivations.testing.adoption import Adopted, adopt
from derivations.testing.printed import from_latex, is_printed

__all__ = ["Equality", "assert_equal"]

NEVER = "an assumption never holds, so that anything would follow from it"


@dataclass(frozen=True)
class Equality:
    """A proved equality: both sides as the judge read them, and the assumptions made, in words."""

    left: Basic
    right: Basic
    assumed: tuple[str, ...]

    def __str__(self) -> str:
        """Return the outcome and the assumptions made, in one line."""
        return "proved for all values" + _taken(self.assumed)


def assert_equal(
    left: Any,
    right: Any,
    assuming: Any = (),
    *,
    about: Derivation | Layer | str | None = None,
    ranges: Mapping[Symbol, Any] | None = None,
) -> Equality:
    """Assert that two expressions are equal for all values within the assumptions.

    A side may also be a result, which stands for its right-hand side, under its definitions and assumptions, or what
    latexify-py prints of a function, which is read back. `assuming` holds SymPy relations, or `Assumption`s for all
    values of an index. `about` names a result or layer whose definitions may be used. `ranges` gives the number of
    values of the indices that no array shape determines.
    """
    __tracebackhide__ = True
    about = next((side for side in (right, left) if isinstance(side, Derivation)), None) if about is None else about
    sides = [_expression(side) for side in (left, right)]
    stated = tuple(_stated(assuming))
    sizes = [size for each in stated for size in each.ranges.values()]
    bound = {index for each in stated for index in each.ranges} - set().union(*(side.free_symbols for side in sides))
    adopted = adopt(
        [*sides, *(each.statement for each in stated), *sizes],
        bound,
        positive=_above_zero(stated, Gt),
        nonnegative=_above_zero(stated, Ge),
    )
    context = _context(about)
    first, second = adopted.expressions[:2]
    evidence = _decided(first, second, _within(adopted, stated, context, ranges or {}))
    assumed = (*adopted.assumed, *(each.text or str(each.statement) for each in context.assumptions))
    taken = _taken(assumed)
    if evidence.level == "proved":
        return Equality(first, second, assumed)
    if evidence.level == "refuted":
        alone = _letters_of_one_side(first, second)
        raise AssertionError(f"refuted: {first} = {second} does not hold: {evidence.reason}{taken}{alone}")
    raise AssertionError(
        f"unknown: {first} = {second} is neither proved nor refuted: {evidence.reason}; "
        f"state what is assumed (assuming=...), or assert it in smaller steps{taken}"
    )


def _letters_of_one_side(first: Basic, second: Basic) -> str:
    """Return a hint on the letters of one side only, if both sides have some: often one letter has two names."""
    left, right = ({symbol.name for symbol in side.free_symbols} for side in (first, second))
    if not left - right or not right - left:
        return ""
    only, other = (", ".join(sorted(letters)) for letters in (left - right, right - left))
    return f"; only the left side has {only}, only the right one {other}"


def _expression(value: Any) -> Basic:
    if isinstance(value, str):
        raise TypeError(
            f"assert_equal takes SymPy expressions, not text, which is never evaluated: {value[:40]!r}; "
            "a result of the catalogue is derivations.get(its id), and from_latex reads what latexify prints"
        )
    if isinstance(value, Derivation):
        if value.relation != "=":
            raise ValueError(f"{value.called} states no equality, but {value.relation}")
        return value.rhs
    if is_printed(value):
        return from_latex(value)
    try:
        expression = sympify(value, strict=True)
    except SympifyError:
        expression = None
    matrices = (MatrixBase, MatrixExpr)
    if isinstance(expression, matrices) or (isinstance(expression, Basic) and expression.has(*matrices)):
        raise TypeError("assert_equal does not read SymPy's matrices: write them with derivations.language.array")
    if not isinstance(expression, Expr | Array):
        raise TypeError(
            f"assert_equal takes SymPy expressions or arrays of derivations.language, not {type(value).__name__}"
        )
    return expression


def _stated(assuming: Any) -> Iterator[Assumption]:
    """Yield the assumptions, without those that always hold.

    Raises `TypeError` for an object that is not a relation, `ValueError` for a relation that never holds.
    """
    single = isinstance(assuming, Basic | Assumption | str) or not isinstance(assuming, Iterable)
    for each in [assuming] if single else assuming:
        statement = each.statement if isinstance(each, Assumption) else each
        if statement in (True, true):
            continue
        if statement in (False, false):
            raise ValueError(NEVER)
        if not isinstance(statement, Relational):
            raise TypeError(f"an assumption is a SymPy relation such as x > 0, not {type(each).__name__}")
        ranges = each.ranges if isinstance(each, Assumption) else {}
        counts = {index: sympify(count, strict=True) for index, count in ranges.items()}
        yield Assumption(statement, counts, each.text if isinstance(each, Assumption) else "")


def _above_zero(stated: Sequence[Assumption], relation: type[Relational]) -> list[str]:
    """Return the names of the symbols that are assumed to be > 0, or >= 0, so that they can be declared so."""
    found = []
    for each in (one for one in stated if not one.ranges):
        statement = each.statement if isinstance(each.statement, Gt | Ge) else each.statement.reversed
        if isinstance(statement, relation) and isinstance(statement.lhs, Symbol) and statement.rhs == 0:
            found.append(statement.lhs.name)
    return found


def _context(about: Derivation | Layer | str | None) -> Derivation:
    if isinstance(about, str):
        about = get(about) if "." in about else layer(about)
    if isinstance(about, Layer):
        return Derivation("", "", (), about.equations)
    if about is None or isinstance(about, Derivation):
        return about or Derivation("", "", ())
    raise TypeError(f"`about` is a result, a layer or the name of one, not {type(about).__name__}")


def _within(
    adopted: Adopted, stated: Sequence[Assumption], context: Derivation, ranges: Mapping[Symbol, Any]
) -> Derivation:
    """Return the two sides as a derivation with the definitions and assumptions that its proof may use."""
    first, second, *statements = adopted.expressions[: 2 + len(stated)]
    assumptions = [
        Assumption(
            statement,
            {adopted.table.get(index, index): count.xreplace(adopted.table) for index, count in each.ranges.items()},
            each.text,
        )
        for statement, each in zip(statements, stated, strict=True)
        if statement is not true
    ]
    if any(statement is false for statement in statements):
        raise ValueError(NEVER)
    stated_ranges = {adopted.table.get(index, index): count for index, count in ranges.items()}
    return derivation(
        "an equality",
        claim(first, step("algebra", second)),
        about=context.definitions,
        ranges={**adopted.ranges, **context.ranges, **stated_ranges},
        assuming=[*context.assumptions, *assumptions],
        bijections=context.bijections,
    )


def _decided(first: Basic, second: Basic, whole: Derivation) -> StepEvidence:
    """Return the verdict of the judge: by algebra, and by the rules that the expressions and assumptions suggest."""
    rules = ["algebra"]
    rules += ["derivative"] * (first.has(Derivative) or second.has(Derivative))
    if any(isinstance(each.statement, Eq) for each in whole.assumptions):
        rules.append("moments")
    elif first.has(Expectation, Variance) or second.has(Expectation, Variance):
        rules.append("variance")
    found = []
    for rule in rules:
        found.append(prove_equal(first, second, whole, rule))
        if found[-1].level == "proved":
            return found[-1]
    return next((each for each in found if each.level == "refuted"), found[-1])


def _taken(assumed: Sequence[str]) -> str:
    return f"; taken: {', '.join(assumed)}" if assumed else ""
