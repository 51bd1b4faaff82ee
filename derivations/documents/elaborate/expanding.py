"""Replacement of names by the document's own definitions of them.

Definition   a name is expanded by the one formula that its section equates it with; of `q_j = W x_j` every q with a
             place is expanded, with that place; of `f(x) = x^2` every f of something
Assumes      a name that is equated with different formulas, or with one that it stands in, is left as it is
Result       `expanded(sides, scope, apart)`: sides of the same letters, or None; `differentiable(sides, scope)`: sides
             in which what is differentiated is written in the letters that it is differentiated by
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from derivations.documents.budget import spend
from derivations.documents.elaborate.letters import Letters, is_kronecker, letters_of
from derivations.documents.scope import Scope
from derivations.documents.syntax import Aggregate, Call, Derivative, Fence, Name, Node, rebuilt

__all__ = ["definition_of", "differentiable", "expanded", "expanded_to", "letters_in"]

ROUNDS = 3
MOST_NODES = 300


def letters_in(side: Node) -> frozenset[str]:
    """Return the names in a side, including those in scripts, without functions and Kronecker deltas."""
    functions = {id(part.function) for part in side.walk() if isinstance(part, Call)}
    names = (part for part in side.walk() if isinstance(part, Name) and id(part) not in functions)
    return frozenset(name.key for name in names if not is_kronecker(name))


def expanded(sides: Sequence[Node], scope: Scope, apart: Sequence[Node] = ()) -> tuple[Node, ...] | None:
    """Return two sides in the same letters, by expanding the names that occur on one side only, or None.

    The definitions in `apart` are not used.
    """
    left, right = sides
    for _ in range(ROUNDS):
        if letters_in(left) == letters_in(right):
            return left, right
        letters = letters_of((left, right))
        new = tuple(
            _expanded(one, letters_in(one) - letters_in(other), letters, scope, apart)
            for one, other in ((left, right), (right, left))
        )
        if new == (left, right) or any(sum(1 for _ in each.walk()) > MOST_NODES for each in new):
            return None
        left, right = new
    return (left, right) if letters_in(left) == letters_in(right) else None


def expanded_to(side: Node, known: frozenset[str], scope: Scope) -> Node | None:
    """Return a side with every name outside `known` expanded, or None if one of them is not defined."""
    for _ in range(ROUNDS):
        others = letters_in(side) - known
        if not others:
            return side
        side = _expanded(side, others, letters_of((side,)), scope, ())
    return None if letters_in(side) - known else side


def differentiable(sides: Sequence[Node], scope: Scope) -> tuple[Node, ...] | None:
    """Return sides in which every operand of a derivative is written in the variables of that derivative.

    None where a letter may depend on what it is differentiated by, and it is not said how, or in several ways. Beside
    `L(x) = ...` the derivative of L is that of L(x).
    """
    sides = tuple(with_functions(_applied(each, scope), scope) for each in sides)
    for _ in range(ROUNDS + 1):
        letters = letters_of(sides)
        families: set[str] = set()
        for part in (part for side in sides for part in side.walk() if isinstance(part, Derivative)):
            by = frozenset(letters.split(each)[0].name.key for each in part.by if isinstance(each, Name))
            led = {
                letters.split(each)[0].name.key: _leads_to(each, by, letters, scope, ROUNDS)
                for each in part.of.walk()
                if isinstance(each, Name)
            }
            if None in led.values() or not (by & led.keys() or any(led.values())):
                return None
            families |= {key for key, leads in led.items() if leads}
        names = frozenset(
            part.key
            for side in sides
            for part in side.walk()
            if isinstance(part, Name) and letters.split(part)[0].name.key in families
        )
        if not names:
            return _in_letters_of_first(sides, scope)
        sides = tuple(with_functions(_expanded(each, names, letters, scope, ()), scope) for each in sides)
        if sum(1 for each in sides for _ in each.walk()) > 2 * MOST_NODES:
            return None
    return None


def _in_letters_of_first(sides: Sequence[Node], scope: Scope) -> tuple[Node, ...]:
    """Return the sides, with the others rewritten in the letters of the first as far as definitions allow."""
    first, *others = sides
    known = letters_in(first)
    return (first, *(expanded_to(each, known, scope) or each for each in others))


def _applied(side: Node, scope: Scope) -> Node:
    """Return a side in which a function that is differentiated without arguments gets those of its definition."""

    def of(node: Any) -> Any:
        match node:
            case Derivative(of=Name() as function, by=by) if (said := function_of(function, scope)) is not None:
                letters = letters_of((side, *said[0]))
                own = {letters.split(each)[0].name.key for each in said[0]}
                if {letters.split(each)[0].name.key for each in by if isinstance(each, Name)} <= own:
                    return Derivative(Call(function, said[0]), by)
        return rebuilt(node, of)

    found: Node = of(side)
    return found


def _leads_to(name: Name, by: frozenset[str], letters: Letters, scope: Scope, most: int) -> bool | None:
    """Return whether the definition of a name uses one of the letters `by`, also through others, or None if unknown."""
    if letters.split(name)[0].name.key in by:
        return False
    formula = definition_of(name, letters, scope)
    if formula is None:
        said = [each for each in scope.definitions(name) if by & _letters_below(each, letters)]
        return None if said else False
    if by & _letters_below(formula, letters):
        return True
    if not most:
        return None
    inner = [_leads_to(each, by, letters, scope, most - 1) for each in formula.walk() if isinstance(each, Name)]
    return None if None in inner else any(inner)


def _letters_below(formula: Node, letters: Letters) -> set[str]:
    return {letters.split(each)[0].name.key for each in formula.walk() if isinstance(each, Name)}


def with_functions(side: Node, scope: Scope) -> Node:
    """Return a side with the functions that the section defines written out, and with f' as a derivative."""

    def of(node: Any) -> Any:
        spend()
        match node:
            case Call(function=Name(primes=1) as function, arguments=(Name() as at,)):
                plain = Name(function.base, function.subscripts, function.superscripts, 0, function.accent)
                return Derivative(of(Call(plain, (at,))), (at,))
            case Call(function=function, arguments=arguments):
                inner = tuple(map(of, arguments))
                said = function_of(function, scope)
                if said is None or len(said[0]) != len(inner):
                    return Call(function, inner, start=node.start, end=node.end)
                put = {name.key: each for name, each in zip(said[0], inner, strict=True)}
                return Fence("(", _at(said[1], put))
        return rebuilt(node, of)

    found: Node = of(side)
    return found


def function_of(function: Name, scope: Scope) -> tuple[tuple[Name, ...], Node] | None:
    """Return the arguments and the formula of a function that the section defines once and without recursion."""
    known = scope.document.functions
    found = [each for section in scope.reach.sections for each in known.get((function.key, section), ())]
    if len(found) != 1 or any(isinstance(p, Call) and p.function.key == function.key for p in found[0][1].walk()):
        return None
    return found[0]


def _expanded(side: Node, names: frozenset[str], letters: Letters, scope: Scope, apart: Sequence[Node]) -> Node:
    def of(node: Any) -> Any:
        spend()
        if isinstance(node, Name):
            if node.key not in names:
                return node
            found = definition_of(node, letters, scope, apart)
            return node if found is None else Fence("(", found)
        if isinstance(node, Call):
            return replace(node, arguments=of(node.arguments))
        return rebuilt(node, of)

    found: Node = of(side)
    return found


def definition_of(name: Name, letters: Letters, scope: Scope, apart: Sequence[Node] = ()) -> Node | None:
    """Return the only formula that defines a name, at the indices of that name, or None."""
    letter, places = letters.split(name)
    found: dict[Node, None] = {}
    for defined, formula in _definitions(scope, letter.name.base):
        other, own = letters.split(defined)
        if other.key != letter.key or len(own) != len(places) or formula in apart:
            continue
        if other.name.key in {letters.split(n)[0].name.key for n in formula.walk() if isinstance(n, Name)}:
            return None
        if own == places:
            found[formula] = None
        elif all(isinstance(each, Name) for each in own) and len(
            {each.key for each in own if isinstance(each, Name)}
        ) == len(own):
            put = {each.key: place for each, place in zip(own, places, strict=True) if isinstance(each, Name)}
            found[_at(formula, put)] = None
    return next(iter(found)) if len(found) == 1 else None


def _definitions(scope: Scope, base: str) -> Sequence[tuple[Name, Node]]:
    """Return the definitions in scope of the names with a given base letter."""
    known = scope.document.formulas_of.get(base, {})
    return [each for section in scope.reach.sections for each in known.get(section, ())]


def _at(node: Any, put: dict[str, Node]) -> Any:
    """Return a formula with letters replaced. The index of a sum is renamed where it would capture a new letter."""
    match node:
        case Name() if node.key in put:
            return put[node.key]
        case Call(arguments=arguments):
            return replace(node, arguments=_at(arguments, put))
        case Aggregate(index=index):
            inner = {key: each for key, each in put.items() if key not in {name.key for name in index}}
            coming = {part.key for each in inner.values() for part in each.walk() if isinstance(part, Name)}
            for name in index:
                if name.key in coming:
                    inner[name.key] = Name(name.base, name.subscripts, name.superscripts, name.primes + 1)
            return rebuilt(node, lambda each: _at(each, inner))
    return rebuilt(node, lambda each: _at(each, put))
