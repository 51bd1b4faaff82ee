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
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from sympy import Basic, Expr, IndexedBase, Integer, Symbol, expand, sqrt

from derivations.documents.judge.letters import ambiguous, rebuilt
from derivations.documents.judge.scalars import EXPECTATIONS, VARIANCES, in_one_order, is_size, scalar, symbol
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Annotated, Call, Fence, Name, Node, Number, Product, Transpose
from derivations.documents.verdicts import Finding
from derivations.dot_product import INDEPENDENT, UNCORRELATED, components, product
from derivations.language.derivation import Derivation
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
    left, right = _with_sums(left, right)
    if isinstance(left, Name) or (isinstance(right, Name) and link == 0 and not _occurs(right, left)):
        return  # a letter that is defined
    if not in_one_order(left, right, scope=scope):
        return
    first, second = scalar(left, scope), scalar(right, scope)
    if first is None or second is None:
        return
    if first.has(Variance, Expectation) or second.has(Variance, Expectation):
        yield from _moments(first, second)
    elif first.free_symbols and second.free_symbols:  # numbers are a matter of arithmetic
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
    if found.level != "refuted" and not known:
        return
    ratio = (first / second).cancel() if second != 0 and _polynomial(first, second) else None
    same = first.free_symbols == second.free_symbols
    if (ratio is not None and ratio.is_Rational) or (goes_on and same and found.level == "refuted"):
        reason = (
            f"the left side is {ratio} times the right side"
            if ratio is not None and ratio.is_Rational
            else found.reason
        )
        yield Finding("wrong", CHECK, f"the two sides differ: {reason}", right=_shown(first))


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


def _shown(expression: Expr) -> str:
    return str(expand(expression)).replace("**", "^").replace("*", " ")


# --- mean and variance ---


def _with_sums(left: Node, right: Node) -> tuple[Node, Node]:
    """Return sides with `q . k` under a mean or variance written as a sum, over the one size that they hold."""
    parts = [*left.walk(), *right.walk()]
    if not any(isinstance(part, Call) and part.function.base in VARIANCES | EXPECTATIONS for part in parts):
        return left, right
    lengths = {part.key: part for part in parts if isinstance(part, Name) and is_size(part)}
    if len(lengths) != 1 or any(isinstance(part, Aggregate) for part in parts):
        return left, right
    (length,) = lengths.values()
    return _summed(left, length), _summed(right, length)


def _summed(node: Any, length: Name) -> Any:
    factors = [each.operand if isinstance(each, Transpose) else each for each in getattr(node, "factors", ())]
    vectors = [each for each in factors if isinstance(each, Name) and each.base.islower() and not is_size(each)]
    if len(vectors) == len(factors) == 2 and vectors[0] != vectors[1]:
        place = Name("component")
        entries = (Name(each.base, (*each.subscripts, place), each.superscripts, each.primes) for each in vectors)
        return Aggregate("sum", Product(tuple(entries), ("",)), (place,), Number("1", Fraction(1)), length)
    return rebuilt(node, lambda each: _summed(each, length))


def _moments(first: Expr, second: Expr) -> Iterator[Finding]:
    """Decide mean and variance of a dot product under the assumptions of the catalogue."""
    renamed = _renamed(first, second)
    if renamed is None:
        return
    left, right = renamed
    deviation = _deviation(right)
    if deviation is None:
        return
    spread = components(0, 0, deviation**2, deviation**2)
    source = Derivation("", "", (), assumptions=(*UNCORRELATED, *INDEPENDENT, *spread))
    texts = dict.fromkeys(each.text for each in (*UNCORRELATED, *INDEPENDENT))
    given = (f"components have mean 0 and variance {_shown(deviation**2)}", *texts)
    result = "dot_product.variance" if deviation == 1 else "dot_product.variance_general"
    if _equal(left, right, source):
        yield Finding("conditional", CHECK, "by independence", result=result, assumptions=given)
    elif not right.has(Variance, Expectation):
        yield from _other_moment(left, right, source, deviation, (result, given[0]))


def _other_moment(
    left: Expr, right: Expr, source: Derivation, deviation: Expr, named: tuple[str, str]
) -> Iterator[Finding]:
    """Say no where the left side is known, and the right side is refuted to be it."""
    scale = deviation**4 if left.has(Variance) else Integer(1)
    for value in (Integer(0), *(scale * each for each in (Integer(1), d_k, 1 / d_k, sqrt(d_k)))):
        if _equal(left, value, source):
            if prove_equal(value, right).level == "refuted":
                result, given = named
                reason = f"where {given} it is {_shown(value)}, not {_shown(right)}"
                yield Finding("wrong", CHECK, reason, right=_shown(value), result=result)
            return


def _deviation(right: Expr) -> Expr | None:
    """Return the standard deviation that a result is written in: the letter sigma, or 1; None for other letters."""
    vectors = {each for base in right.atoms(IndexedBase) for each in base.free_symbols}
    symbols = (each for each in right.free_symbols - vectors - {d_k} if isinstance(each, Symbol))
    letters = [each for each in symbols if not each.is_integer]
    if not letters:
        return Integer(1)
    return letters[0] if len(letters) == 1 and letters[0].name in ("sigma", "σ") else None


def _equal(left: Expr, right: Expr, source: Derivation) -> bool:
    return any(prove_equal(left, right, source, rule).level == "proved" for rule in ("moments", "variance"))


def _renamed(first: Expr, second: Expr) -> tuple[Expr, Expr] | None:
    """Return both sides with their two vectors called q and k, of length d_k; None where there are not just two."""
    vectors = sorted(first.atoms(IndexedBase) | second.atoms(IndexedBase), key=str)
    ours = sorted(product.atoms(IndexedBase), key=str)
    lengths = {each.shape for each in vectors}
    if len(vectors) != 2 or len(lengths) != 1 or len(vectors[0].shape) != 1:
        return None
    (length,) = vectors[0].shape
    table: dict[Basic, Basic] = dict(zip(vectors, ours, strict=True))
    if isinstance(length, Symbol):
        table[length] = d_k
    return first.xreplace(table), second.xreplace(table)
