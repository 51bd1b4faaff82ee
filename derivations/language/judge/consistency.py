"""Whether assumptions contradict one another: then everything would follow from them, and nothing is proved.

Every assumption becomes linear rows in monomials, each taken as a number of its own whose sign is known (declared, an
even power, exp), together with the products of pairs of inequalities. Where these rows have no solution, no values
satisfy the assumptions. That is looked for twice: for symbolic sizes, with quantified assumptions at their first place
and at the free indices of their range; and at small sizes that satisfy what is assumed of sizes, sums written out.

Not to see a contradiction does not show that there is none: an assumption of another kind is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, product
from typing import Any

from sympy import Abs, Add, Basic, Eq, Expr, Ge, Gt, Indexed, Integer, Le, Lt, Max, Min, Ne, Symbol, expand, false

from derivations.language.arrays.binding import free_symbols, replace_free
from derivations.language.arrays.scalars import Expectation
from derivations.language.judge.evaluate import NotEvaluable, Sample, written_out
from derivations.language.judge.linear_systems import Row, infeasible
from derivations.language.results.derivation import Claim, Derivation

__all__ = ["contradiction"]

_EQUAL_SIZES = (1, 2, 3)
_MOST_STATEMENTS = 40
_MOST_PRODUCTS = 8  # inequalities that are multiplied by one another
_MOST_UNEQUAL = 4
_LONGEST_FACTOR = 12
Stated = tuple[Basic, tuple[tuple[Symbol, Expr], ...]]


def contradiction(derivation: Derivation, claim: Claim) -> bool:
    """Say whether no values satisfy the assumptions of a claim, as far as that is seen."""
    stated = tuple((a.statement, tuple(a.ranges.items())) for a in (*derivation.assumptions, *claim.given))
    return bool(stated) and _contradictory(stated, tuple(derivation.ranges.items()), derivation.definitions)


@lru_cache(maxsize=1 << 10)
def _contradictory(stated: tuple[Stated, ...], ranges: tuple[tuple[Symbol, Expr], ...], definitions: Any) -> bool:
    if any(statement == false for statement, _ in stated):
        return True
    places = dict(ranges)
    if _no_solution([each for one in stated for each in _instances(*one, places)]):
        return True
    written = (_written(stated, places, definitions, sizes) for sizes in _sizes(stated, places, definitions))
    tried = False
    for statements in written:  # one after the other: mostly the first sizes will do
        if statements is not None and not _no_solution(statements):
            return False
        tried = tried or statements is not None
    return tried


def _sizes(stated: tuple[Stated, ...], places: Mapping[Symbol, Expr], definitions: Any) -> list[dict[str, int]]:
    """Return small values of all sizes: equal ones, and different ones that increase and decrease."""
    parts = [statement for statement, _ in stated] + [own for _, ranges in stated for _, own in ranges]
    parts += [*places.values(), *(e.value for e in definitions)]
    names = sorted({s.name for part in parts for s in part.atoms(Symbol) if s.is_integer and s.is_positive})
    different = [range(1, len(names) + 1), range(2, len(names) + 2), range(len(names) + 1, 1, -1)]
    equal = (*_EQUAL_SIZES, *([len(places)] if len(places) > max(_EQUAL_SIZES) else []))  # free indices may differ
    values = [*([size] * len(names) for size in equal), *(different if len(names) > 1 else ())]
    return [dict(zip(names, each, strict=True)) for each in values]


def _instances(statement: Basic, ranges: tuple[tuple[Symbol, Expr], ...], places: Mapping[Symbol, Expr]) -> list[Basic]:
    """Return a statement at the first place of its ranges, and at the free indices that run over the same range."""
    choices: list[list[Basic]] = []
    for _, size in ranges:
        filled = size.is_positive  # of a range that may be empty nothing is said
        choices.append([*([Integer(0)] if filled else []), *(i for i, own in places.items() if own == size)])
    indices = [index for index, _ in ranges]
    return [replace_free(statement, dict(zip(indices, each, strict=True))) for each in product(*choices)]


def _written(
    stated: tuple[Stated, ...], places: Mapping[Symbol, Expr], definitions: Any, sizes: dict[str, int]
) -> list[Basic] | None:
    """Return the statements with all sums written out; None where a free index has no place, or the sizes are wrong."""
    sample = Sample(dict(sizes), definitions={e.variable.name: e.value_at for e in definitions})
    try:
        for place, (index, own) in enumerate(places.items()):  # free indices differ where their ranges let them
            last = _number(own, sample) - 1
            if last < 0:
                return None
            sample.integers[index.name] = min(last, place)
        found: list[Basic] = []
        for statement, ranges in stated:
            for case in product(*(range(_number(own, sample)) for _, own in ranges)):
                bound = {index: value for (index, _), value in zip(ranges, case, strict=True)}
                sides = [written_out(side, sample, bound) for side in statement.args]
                found.append(statement.func(*sides, evaluate=False))
                if all(side.is_Rational for side in sides) and statement.func(*sides) == false:
                    return None  # it speaks of sizes or places alone: these are not the ones
        return found
    except (NotEvaluable, TypeError, ValueError, AttributeError):
        return None  # such a size is not tried


def _number(size: Expr, sample: Sample) -> int:
    value = written_out(size, sample, {})
    if not value.is_Integer or value < 0:
        raise NotEvaluable(f"a range of {value} places")
    return int(value)


def _no_solution(statements: list[Basic]) -> bool:
    """Say whether no values satisfy some relations between scalars, as far as linear rows in monomials show."""
    relations = [s for s in statements if isinstance(s, _RELATIONS)]
    if any(s == false for s in statements):
        return True
    if len(relations) > _MOST_STATEMENTS:
        return False
    gaps = [(_KINDS[type(s)][0], expand(_KINDS[type(s)][1] * (s.args[0] - s.args[1]))) for s in relations]
    gaps = _with_values(gaps)
    unequal = [gap for kind, gap in gaps if kind == "!="]
    if any(gap == 0 for gap in unequal):
        return True
    rows = [(kind, gap) for kind, gap in gaps if kind != "!="]
    cases = product((1, -1), repeat=len(unequal)) if len(unequal) <= _MOST_UNEQUAL else iter([()])
    return all(
        infeasible(_rows([*rows, *((">", expand(sign * gap)) for sign, gap in zip(case, unequal, strict=False))]))
        for case in cases
    )


def _with_values(gaps: list[tuple[str, Expr]]) -> list[tuple[str, Expr]]:
    """Put the numbers that equations give to single symbols into the other relations, and what was declared of them."""
    for _ in range(len(gaps)):
        found = next((each for each in map(_value, gaps) if each is not None), None)
        if found is None:
            break
        one, value, pair = found
        gaps = [(kind, expand(gap.xreplace({one: value}))) for kind, gap in gaps if (kind, gap) != pair]
        gaps += [(kind, expand(gap.xreplace({one: value}))) for kind, gap in _declared(one)]
        if one.is_integer and not value.is_integer:
            gaps.append(("=", Integer(1)))
    return gaps


def _value(pair: tuple[str, Expr]) -> tuple[Expr, Expr, tuple[str, Expr]] | None:
    """Return the symbol, entry or moment to which an equation gives a number, with the number."""
    kind, gap = pair
    terms = {monomial: c for monomial, c in gap.as_coefficients_dict().items() if monomial != 1}
    if kind != "=" or len(terms) != 1:
        return None
    ((one, slope),) = terms.items()
    if not slope.is_Rational or not isinstance(one, (Symbol, Indexed, Expectation)):
        return None
    return one, -expand(gap - slope * one) / slope, pair


def _rows(gaps: list[tuple[str, Expr]]) -> list[Row]:
    short = (pair for pair in gaps if pair[0] != "=" and len(Add.make_args(pair[1])) <= _LONGEST_FACTOR)
    inequalities = list(short)[:_MOST_PRODUCTS]
    for (kind, gap), (other, by) in combinations_with_replacement(inequalities, 2):
        gaps = [*gaps, (">" if kind == other == ">" else ">=", expand(gap * by))]
    monomials = {m for _, gap in gaps for m in gap.as_coefficients_dict() if m != 1}
    parts = {part for m in monomials for part in m.atoms(Abs, Max, Min, Symbol, Indexed)} | monomials
    facts = [fact for part in sorted(parts, key=str) for fact in _declared(part)]
    return [_row(kind, gap) for kind, gap in (*gaps, *facts)]


def _row(kind: str, gap: Expr) -> Row:
    terms, constant = [], Fraction(0)
    for monomial, c in gap.as_coefficients_dict().items():
        number = Fraction(int(c.p), int(c.q)) if c.is_Rational else None
        if number is None:
            terms.append((monomial * c, Fraction(1)))
        elif monomial == 1:
            constant = number
        else:
            terms.append((monomial, number))
    return Row(tuple(terms), constant, kind)


def _declared(part: Expr) -> Iterator[tuple[str, Expr]]:
    """Yield what holds of a monomial for all values: its declared sign, at least 1 for a size, the bounds of |a|."""
    if part.is_integer and part.is_positive:
        yield ">=", part - 1
    label = part.base.label if isinstance(part, Indexed) else part
    if label.is_positive:
        yield ">", part
    elif label.is_negative:
        yield ">", -part
    elif label.is_nonnegative or _even(part):
        yield ">=", part
    elif label.is_nonpositive:
        yield ">=", -part
    if isinstance(part, Abs):
        yield from ((">=", part - part.args[0]), (">=", part + part.args[0]))
    if isinstance(part, Max):
        yield from ((">=", part - each) for each in part.args)
    if isinstance(part, Min):
        yield from ((">=", each - part) for each in part.args)


def _even(part: Expr) -> bool:
    """Say whether a monomial is a product of even powers of reals, or the expectation of one."""
    if isinstance(part, Expectation):
        return _even(part.args[0])
    factors: Iterable[Any] = part.args if part.is_Mul else (part,)
    return all(f.is_Pow and f.exp.is_Integer and f.exp % 2 == 0 and _real(f.base) for f in factors)


def _real(part: Expr) -> bool:
    return all(s.is_real or s.is_integer for s in free_symbols(part) if isinstance(s, Symbol))


_KINDS: dict[Any, tuple[str, int]] = {
    Ge: (">=", 1),
    Gt: (">", 1),
    Le: (">=", -1),
    Lt: (">", -1),
    Eq: ("=", 1),
    Ne: ("!=", 1),
}
_RELATIONS = tuple(_KINDS)
