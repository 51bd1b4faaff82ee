r"""Algebraic comparison of two scalars: as written, with the values of the section, and with the usual sizes.

Result       `by_algebra(sides, first, second, goes_on=...)`: proved, conditional where both sides are
             defined or with the usual sizes, or wrong where no values could be meant for which it holds; `ratio_of`
             how many times one side is the other
Assumes      an equation in other letters, or one that no chain leads to, may be a condition: only a constant ratio of
             the sides refutes it
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from sympy import Expr, Float, Indexed, IndexedBase, Integer, Rational, Sum, Symbol, expand, primerange

from derivations.documents.judge.algebra.moments import shown
from derivations.documents.judge.algebra.proving import Sides, decided
from derivations.documents.judge.algebra.scalars import is_size, symbol
from derivations.documents.proving import are_equal, weighed
from derivations.documents.scope import Scope
from derivations.documents.syntax import Name, Node, Number
from derivations.documents.verdicts import Finding
from derivations.symbols import d_ff, d_k, d_model, d_v, h, size

__all__ = ["CHECK", "USUAL", "by_algebra", "is_rounded", "ratio_of", "related"]

CHECK = "chain"
MOST_TERMS = 64
LARGE = 1_000  # 0.5 d = 0.6 d is no matter of digits
FINE = 100  # times half a unit of the last digit: such a decimal was rounded, where 0.5 is meant as it stands
USUAL = ((d_k, d_model / h), (d_v, d_model / h), (d_ff, 4 * d_model))  # in this order, as is assumed of a layer


def by_algebra(sides: Sides, first: Expr, second: Expr, *, goes_on: bool) -> Iterator[Finding]:
    """Yield findings about two scalars with letters. `goes_on` is true if the first one continues a chain."""
    scope = sides.scope
    level, counterexample = weighed(first, second)
    if level == "proved":
        yield decided(sides, "both sides are equal by algebra")
        return
    known = _values(first, scope) | _values(second, scope)
    if any(map(_is_long, (first.xreplace(known), second.xreplace(known)))):
        known = {}
    if known and are_equal(first.xreplace(known), second.xreplace(known)):
        taken = tuple(f"{name} = {value}" for name, value in known.items())
        reason = f"equal by algebra with {', '.join(taken)}"
        values = {str(name): value for name, value in known.items()}
        yield decided(sides, reason, values, taken)
        return
    ratio = ratio_of(first, second)
    if ratio == 1 or first == second:
        yield decided(sides, "both sides are one fraction in lowest terms" if ratio == 1 else "both sides are alike")
        return
    for relations in ((USUAL[0], USUAL[1]), (USUAL[2],), USUAL):
        pairs = [(expand(related(first, relations)), expand(related(second, relations)))]
        if pairs[0] != (expand(first), expand(second)) and are_equal(*pairs[0]):
            taken = tuple(f"{name} = {value}" for name, value in relations if {name} & _letters(first, second))
            yield Finding("conditional", CHECK, "equal by algebra with the usual sizes", assumptions=taken)
            return
    if level == "refuted" or known:
        constant = ratio is not None and ratio.is_Rational
        free = goes_on and level == "refuted" and _is_free(first, second, scope)
        if (constant or free) and not _agree_in_numbers(first, second):
            reason = f"the left side is {ratio} times the right side" if constant else counterexample
            yield Finding("wrong", CHECK, f"the two sides differ: {reason}", right=shown(first))
        elif known and not constant:
            yield from _refuted_by_sizes(first, second, known)


def _refuted_by_sizes(first: Expr, second: Expr, known: Mapping[Symbol, Expr]) -> Iterator[Finding]:
    """Yield a refutation if, with the values of the section, one side is a constant multiple of the other."""
    ratio = ratio_of(first.xreplace(known), second.xreplace(known))
    sizes = all(letter.is_positive and letter.is_integer for letter in _letters(first, second))
    if ratio is not None and ratio.is_Rational and ratio != 1 and (sizes or ratio != 0):
        taken = ", ".join(f"{name} = {value}" for name, value in known.items())
        yield Finding("wrong", CHECK, f"with {taken} the left side is {ratio} times the right side", right=shown(first))


def is_rounded(left: Node, right: Node, ratio: Expr | None) -> bool:
    """Return whether two sides agree within the printed digits of their numbers: `4096 * 32 B = 1.3e5 B`, 0.0667."""
    numbers = (part for side in (left, right) for part in side.walk() if isinstance(part, Number) and not part.exact)
    spread = sum(
        each.half_unit / each.value for each in numbers if each.value >= LARGE or each.half_unit * FINE <= each.value
    )
    return ratio is not None and ratio.is_Rational is True and abs(ratio - 1) <= Rational(spread)


def ratio_of(first: Expr, second: Expr) -> Expr | None:
    """Return the quotient of the two sides in lowest terms, or None."""
    return (first / second).cancel() if second != 0 and _polynomial(first, second) else None


def _is_free(first: Expr, second: Expr, scope: Scope) -> bool:
    """Return whether both sides have the same letters, none of them defined, and no entries of arrays."""
    if first.free_symbols != second.free_symbols or first.has(IndexedBase):
        return False
    names = [Name(str(letter)) for letter in first.free_symbols]
    return all(scope.definition(name) is None for name in names)


def _agree_in_numbers(first: Expr, second: Expr) -> bool:
    """Return whether two sides without sums are equal at distinct primes, with 30 digits, or have no value there."""
    if first.has(Sum) or second.has(Sum):
        return False  # the counterexample of the judge has numbers for their terms
    letters = sorted(_letters(first, second), key=str)
    for start in (2, 30):
        primes = dict(zip(letters, islice(map(Integer, primerange(start, 10_000)), len(letters)), strict=True))
        values = [each.xreplace(primes).evalf(30) for each in (first, second)]
        if not all(each.is_Number for each in values):
            return True  # no numbers: no counterexample
        if abs(values[0] - values[1]) > Float("1e-20", 30) * max(abs(values[0]), abs(values[1])):
            return False
    return True


def related(expression: Expr, relations: tuple[tuple[Symbol, Expr], ...]) -> Expr:
    """Return an expression with sizes replaced by their values. The pairs (size, value) are applied in order."""
    for name, value in relations:
        expression = expression.xreplace({name: value})
    return expression


def _is_long(expression: Expr) -> bool:
    """Return whether an expression has a sum over so many entries of an array that nobody would write them out."""
    sums = (each for each in expression.atoms(Sum) if each.has(Indexed))
    lengths = (upper - lower for each in sums for _, lower, upper in each.limits)
    return any(length.is_Integer and length > MOST_TERMS for length in lengths)


def _letters(*expressions: Expr) -> set[Symbol]:
    return set().union(*(each.free_symbols for each in expressions))


def _polynomial(*expressions: Expr) -> bool:
    return all(each.is_polynomial(*each.free_symbols) or each.is_rational_function() for each in expressions)


def _values(expression: Expr, scope: Scope) -> dict[Symbol, Expr]:
    """Return the values that the scope gives to the letters of an expression, written in the symbols of the judge."""
    found: dict[Symbol, Expr] = {}
    for letter in sorted(expression.free_symbols, key=str):
        value = scope.value(Name(str(letter)))
        if value is not None and value != letter:
            symbols = {each: _adopted(str(each)) for each in value.free_symbols}
            found[letter] = value.xreplace(symbols)
    return found


def _adopted(key: str) -> Symbol:
    return size(key) if is_size(Name(key)) else symbol(Name(key))
