r"""Chains of scalars, link by link, decided by the judge of equality.

Definition   a link `a = b` in a chain says that two expressions are equal for all values of their letters
Result       proved       by algebra, or since one side is the other with a letter replaced by what defined it
             conditional  with sizes related as is usual (d_k = d_model / h, d_ff = 4 d_model), or as expectation and
                          variance of a product of independent components: the assumptions are named
             wrong        refuted by a witness, where no values could be meant for which it holds: the two sides are in
                          a constant ratio, or the link goes on with a chain in the same letters, or one slip makes an
                          equation of what is an identity without it, or a side strays from others that agree
             nothing      elsewhere: an equation may be a definition, a setting or a condition
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from sympy import Expr, Float, IndexedBase, Integer, Sum, Symbol, expand, primerange

from derivations.documents.formulas import formula_text
from derivations.documents.judge.algebra.conditions import is_condition
from derivations.documents.judge.algebra.dot_products import check_bounds, with_sums
from derivations.documents.judge.algebra.moment_slips import moment_slip
from derivations.documents.judge.algebra.moments import check_moments, says_unit_variance, shown
from derivations.documents.judge.algebra.near_identities import mended, slip_between
from derivations.documents.judge.algebra.scalars import EXPECTATIONS, VARIANCES, in_one_order, is_size, scalar, symbol
from derivations.documents.judge.algebra.strayed_sides import strayed
from derivations.documents.judge.numbers.letters import ambiguous, bare, put
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Name, Node, Number
from derivations.documents.verdicts import Finding
from derivations.language.proof import prove_equal
from derivations.language.scalars import Expectation, Variance
from derivations.symbols import d_ff, d_k, d_model, d_v, h, size

__all__ = ["USUAL", "check_chains", "related"]

CHECK = "chain"
USUAL = ((d_k, d_model / h), (d_v, d_model / h), (d_ff, 4 * d_model))  # in this order, as is assumed of a layer


def check_chains(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield what is found of a link between two scalars, or of one that follows from a definition."""
    if link is None or statement.chain.relations[link] not in ("=", "≡"):
        return
    left, right = statement.chain.sides[link : link + 2]
    stray = strayed(statement, link, scope)
    if stray is not None:
        reason = f"a side differs from the others of the chain, and is equal to them if mended: {stray.slip}"
        yield Finding("wrong", CHECK, reason, right=formula_text(stray.side))
        return
    replaced = tuple(_by_definition(statement, left, right, scope))
    if replaced:
        yield from replaced
        return
    yield from check_bounds(left, right)
    left, right = with_sums(left, right)
    if isinstance(left, Name) or (isinstance(right, Name) and link == 0 and not _occurs(right, left)):
        return  # a letter that is defined
    both = all(map(_has_moment, (left, right))) and not is_condition(statement)
    slip = moment_slip(left, right, _others(statement, link)) if both else None
    if slip is not None:
        yield Finding(
            "wrong", CHECK, f"the two sides differ, and are equal if mended: {slip[1]}", right=formula_text(slip[0])
        )
        return
    in_order = in_one_order(left, right, scope=scope)
    first, second = (scalar(side, scope) if in_order else None for side in (left, right))
    if first is None or second is None:
        yield from _mended(statement, left, right, scope)
        return
    if first.has(Variance, Expectation) or second.has(Variance, Expectation):
        yield from check_moments(first, second, unit=says_unit_variance(statement, scope))
    elif not (first.free_symbols or second.free_symbols):  # other numbers are a matter of arithmetic
        if first.is_Rational is not True and prove_equal(first, second).level == "proved":
            yield Finding("proved", CHECK, "both sides are one number by algebra")
    elif first.free_symbols and second.free_symbols:
        found = tuple(_algebra(first, second, scope, goes_on=link > 0))
        if found:
            yield from (each for each in found if each.verdict != "wrong" or not ambiguous(left, right))
        else:
            yield from _mended(statement, left, right, scope)
    elif not isinstance(bare(left), Number) and not isinstance(bare(right), Number):
        yield from _mended(statement, left, right, scope)  # by a slip a side may vanish: a difference of equals


def _others(statement: Statement, link: int) -> tuple[Node, ...]:
    """Return the parts of a chain that are not the two sides of a link."""
    sides, condition = statement.chain.sides, statement.chain.condition
    return (*sides[:link], *sides[link + 2 :], *((condition,) if condition is not None else ()))


def _has_moment(side: Node) -> bool:
    return any(isinstance(part, Call) and part.function.base in VARIANCES | EXPECTATIONS for part in side.walk())


def _occurs(name: Name, node: Node) -> bool:
    return any(isinstance(part, Name) and part.key == name.key for part in node.walk())


# --- by definition ---


def _by_definition(statement: Statement, left: Node, right: Node, scope: Scope) -> Iterator[Finding]:
    """Compare one side with the other where a letter is replaced by what defined it."""
    unfolded = list(_unfolded(left, right, scope))
    for key, whole, other in unfolded:
        if bare(whole) == bare(other):
            yield Finding("proved", CHECK, f"{key} replaced by what defines it", result=None)
            return
    if isinstance(left, Name) or isinstance(right, Name) or statement.passage.syntax == "code":
        return  # a letter is set, perhaps anew
    for key, whole, other in unfolded:
        slip = slip_between(statement, whole, other) if len(scope.definitions(Name(key))) < 2 else None
        if slip is not None:
            reason = f"{key} is defined otherwise in this section: {slip}"
            yield Finding("wrong", CHECK, reason, right=formula_text(whole))
            return


def _unfolded(left: Node, right: Node, scope: Scope) -> Iterator[tuple[str, Node, Node]]:
    """Yield a letter of one side that the other lacks, the side with the letter replaced, and the other."""
    for whole, other in ((left, right), (right, left)):
        names = {part.key: part for part in whole.walk() if isinstance(part, Name)}
        present = {part.key for part in other.walk() if isinstance(part, Name)}
        if isinstance(whole, Name):
            continue  # this is the definition itself, or another one of it
        for key, name in names.items():
            found = scope.definition(name) if key not in present else None
            if found is not None:
                yield key, put(whole, {key: found}), other


# --- by algebra ---


def _algebra(first: Expr, second: Expr, scope: Scope, *, goes_on: bool) -> Iterator[Finding]:
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
    ratio = _ratio(first, second)
    if ratio == 1:
        yield Finding("proved", CHECK, "both sides are one fraction in lowest terms")
    elif found.level == "refuted" or known:
        constant = ratio is not None and ratio.is_Rational
        free = goes_on and found.level == "refuted" and _is_free(first, second, scope)
        if (constant or free) and not _agree_in_numbers(first, second):
            reason = f"the left side is {ratio} times the right side" if constant else found.reason
            yield Finding("wrong", CHECK, f"the two sides differ: {reason}", right=shown(first))
        elif known and not constant:
            yield from _refuted_by_sizes(first, second, known)


def _refuted_by_sizes(first: Expr, second: Expr, known: Mapping[Symbol, Expr]) -> Iterator[Finding]:
    """Say no to an equation that what the section sets makes one of a thing with a multiple of it."""
    ratio = _ratio(first.xreplace(known), second.xreplace(known))
    sizes = all(letter.is_positive and letter.is_integer for letter in _letters(first, second))
    if ratio is not None and ratio.is_Rational and ratio != 1 and (sizes or ratio != 0):
        taken = ", ".join(f"{name} = {value}" for name, value in known.items())
        yield Finding("wrong", CHECK, f"with {taken} the left side is {ratio} times the right side", right=shown(first))


def _ratio(first: Expr, second: Expr) -> Expr | None:
    """Return how many times one side is the other, in lowest terms."""
    return (first / second).cancel() if second != 0 and _polynomial(first, second) else None


def _mended(statement: Statement, left: Node, right: Node, scope: Scope) -> Iterator[Finding]:
    """Tell what makes an identity of an equation that is one but for a slip."""
    found = mended(statement, left, right, scope) if not ambiguous(left, right) else None
    if found is not None:
        reason = f"the two sides differ, and are equal by algebra if mended: {found.slip}"
        yield Finding("wrong", CHECK, reason, right=formula_text(found.side))


def _is_free(first: Expr, second: Expr, scope: Scope) -> bool:
    """Say whether both sides are of the same letters, of which nothing is known: no arrays, whose sum may be 1."""
    if first.free_symbols != second.free_symbols or first.has(IndexedBase):
        return False
    names = [Name(str(letter)) for letter in first.free_symbols]
    return all(scope.definition(name) is None for name in names)


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


def _values(expression: Expr, scope: Scope) -> dict[Symbol, Expr]:
    """Return what the scope sets the letters of an expression to, in the alphabet of the judge."""
    found: dict[Symbol, Expr] = {}
    for letter in sorted(expression.free_symbols, key=str):
        value = scope.value(Name(str(letter)))
        if value is not None and value != letter:
            symbols = {each: _adopted(str(each)) for each in value.free_symbols}
            found[letter] = value.xreplace(symbols)
    return found


def _adopted(key: str) -> Symbol:
    return size(key) if is_size(Name(key)) else symbol(Name(key))
