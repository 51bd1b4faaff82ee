r"""Chains of scalars, link by link, decided by the judge of equality.

Definition   a link `a = b` in a chain says that two expressions are equal for all values of their letters
Result       proved       by algebra, or since one side is the other with a letter replaced by what defined it
             conditional  with sizes related as is usual (d_k = d_model / h, d_ff = 4 d_model), or as expectation and
                          variance of a product of independent components: the assumptions are named
             wrong        refuted by a witness, where no values could be meant for which it holds: the two sides are in
                          a constant ratio, or the link goes on with a chain in the same letters
             nothing      elsewhere: an equation may be a definition, a setting or a condition
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Protocol, runtime_checkable

from sympy import Expr, Float, IndexedBase, Integer, Sum, Symbol, expand, primerange

from derivations.documents.judge.letters import ambiguous, rebuilt
from derivations.documents.judge.moments import check_moments, says_unit_variance, shown, with_sums
from derivations.documents.judge.scalars import in_one_order, is_size, scalar, symbol
from derivations.documents.statements import Statement
from derivations.documents.syntax import Annotated, Fence, Name, Node
from derivations.documents.verdicts import Finding
from derivations.language.proof import prove_equal
from derivations.language.scalars import Expectation, Variance
from derivations.symbols import d_ff, d_k, d_model, d_v, h, size

__all__ = ["USUAL", "check_chains", "related"]

CHECK = "chain"
USUAL = ((d_k, d_model / h), (d_v, d_model / h), (d_ff, 4 * d_model))  # in this order, as is assumed of a layer


@runtime_checkable
class Defined(Protocol):
    """A scope that knows what letters were set to and how they were defined."""

    def value(self, name: Name) -> Expr | None:
        """Return what a letter was set to."""

    def definition(self, name: Name) -> Node | None:
        """Return the right side that defined a letter."""


def check_chains(statement: Statement, link: int | None, scope: object) -> Iterator[Finding]:
    """Yield what is found of a link between two scalars, or of one that follows from a definition."""
    if link is None or statement.chain.relations[link] not in ("=", "≡"):
        return
    left, right = statement.chain.sides[link : link + 2]
    replaced = tuple(_by_definition(left, right, scope))
    if replaced:
        yield from replaced
        return
    left, right = with_sums(left, right)
    if isinstance(left, Name) or (isinstance(right, Name) and link == 0 and not _occurs(right, left)):
        return  # a letter that is defined
    if not in_one_order(left, right, scope=scope):
        return
    first, second = scalar(left, scope), scalar(right, scope)
    if first is None or second is None:
        return
    if first.has(Variance, Expectation) or second.has(Variance, Expectation):
        yield from check_moments(first, second, unit=says_unit_variance(statement, scope))
    elif not (first.free_symbols or second.free_symbols):  # other numbers are a matter of arithmetic
        if first.is_Rational is not True and prove_equal(first, second).level == "proved":
            yield Finding("proved", CHECK, "both sides are one number by algebra")
    elif first.free_symbols and second.free_symbols:
        found = _algebra(first, second, scope, goes_on=link > 0)
        yield from (each for each in found if each.verdict != "wrong" or not ambiguous(left, right))


def _occurs(name: Name, node: Node) -> bool:
    return any(isinstance(part, Name) and part.key == name.key for part in node.walk())


# --- by definition ---


def _by_definition(left: Node, right: Node, scope: object) -> Iterator[Finding]:
    """Compare one side with the other where a letter is replaced by what defined it."""
    if not isinstance(scope, Defined):
        return
    for whole, unfolded in ((left, right), (right, left)):
        names = {part.key: part for part in whole.walk() if isinstance(part, Name)}
        present = {part.key for part in unfolded.walk() if isinstance(part, Name)}
        if isinstance(whole, Name):
            continue  # this is the definition itself, or another one of it
        for key, name in names.items():
            found = scope.definition(name) if key not in present else None
            if found is not None and _bare(_put(whole, key, found)) == _bare(unfolded):
                yield Finding("proved", CHECK, f"{key} replaced by what defines it", result=None)
                return


def _put(node: Any, key: str, value: Node) -> Any:
    if isinstance(node, Name) and node.key == key:
        return value
    return rebuilt(node, lambda each: _put(each, key, value))


def _bare(node: Any) -> Any:
    """Return a node without round brackets and notes, which do not change what it says once it is a tree."""
    while isinstance(node, Annotated) or (isinstance(node, Fence) and node.bracket in ("(", "[", "{", "")):
        node = node.of if isinstance(node, Annotated) else node.inside
    return rebuilt(node, _bare)


# --- by algebra ---


def _algebra(first: Expr, second: Expr, scope: object, *, goes_on: bool) -> Iterator[Finding]:
    found = prove_equal(first, second)
    if found.level == "proved":
        yield Finding("proved", CHECK, "both sides are equal by algebra")
        return
    known = _values(first, scope) | _values(second, scope)
    if known and prove_equal(first.xreplace(known), second.xreplace(known)).level == "proved":
        taken = tuple(f"{name} = {value}" for name, value in known.items())
        yield Finding("proved", CHECK, f"equal by algebra with {', '.join(taken)}", assumptions=taken)
        return
    for relations in ((USUAL[0], USUAL[1]), (USUAL[2],), USUAL):
        pairs = [(expand(related(first, relations)), expand(related(second, relations)))]
        if pairs[0] != (expand(first), expand(second)) and prove_equal(*pairs[0]).level == "proved":
            taken = tuple(f"{name} = {value}" for name, value in relations if {name} & _letters(first, second))
            yield Finding("conditional", CHECK, "equal by algebra with the usual sizes", assumptions=taken)
            return
    ratio = (first / second).cancel() if second != 0 and _polynomial(first, second) else None
    if ratio == 1:
        yield Finding("proved", CHECK, "both sides are one fraction in lowest terms")
    elif found.level == "refuted" or known:
        constant = ratio is not None and ratio.is_Rational
        free = goes_on and found.level == "refuted" and _is_free(first, second, scope)
        if (constant or free) and not _agree_in_numbers(first, second):
            reason = f"the left side is {ratio} times the right side" if constant else found.reason
            yield Finding("wrong", CHECK, f"the two sides differ: {reason}", right=shown(first))


def _is_free(first: Expr, second: Expr, scope: object) -> bool:
    """Say whether both sides are of the same letters, of which nothing is known: no arrays, whose sum may be 1."""
    if first.free_symbols != second.free_symbols or first.has(IndexedBase):
        return False
    names = [Name(str(letter)) for letter in first.free_symbols]
    return not isinstance(scope, Defined) or all(scope.definition(name) is None for name in names)


def _agree_in_numbers(first: Expr, second: Expr) -> bool:
    """Say whether two sides without sums are equal for distinct primes, to 30 digits: then nothing refutes them."""
    if first.has(Sum) or second.has(Sum):
        return False  # the witness of the judge has numbers for their terms
    letters = sorted(_letters(first, second), key=str)
    for start in (2, 30):
        primes = dict(zip(letters, islice(map(Integer, primerange(start, 10_000)), len(letters)), strict=True))
        values = [each.xreplace(primes).evalf(30) for each in (first, second)]
        if not all(each.is_Number for each in values):
            return True  # no numbers: no witness
        if abs(values[0] - values[1]) > Float("1e-20", 30) * max(abs(values[0]), abs(values[1])):
            return False
    return True


def related(expression: Expr, relations: tuple[tuple[Symbol, Expr], ...]) -> Expr:
    """Return an expression with sizes replaced, one relation after the other."""
    for name, value in relations:
        expression = expression.xreplace({name: value})
    return expression


def _letters(*expressions: Expr) -> set[Symbol]:
    return set().union(*(each.free_symbols for each in expressions))


def _polynomial(*expressions: Expr) -> bool:
    return all(each.is_polynomial(*each.free_symbols) or each.is_rational_function() for each in expressions)


def _values(expression: Expr, scope: object) -> dict[Symbol, Expr]:
    """Return what the scope sets the letters of an expression to, in the alphabet of the judge."""
    found: dict[Symbol, Expr] = {}
    if not isinstance(scope, Defined):
        return found
    for letter in sorted(expression.free_symbols, key=str):
        value = scope.value(Name(str(letter)))
        if value is not None and value != letter:
            symbols = {each: _adopted(str(each)) for each in value.free_symbols}
            found[letter] = value.xreplace(symbols)
    return found


def _adopted(key: str) -> Symbol:
    return size(key) if is_size(Name(key)) else symbol(Name(key))
