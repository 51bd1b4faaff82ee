r"""Contradictions in a formula or its section: a letter with two meanings, a softmax of one number, wrong settings.

Definition   looks for a summation index that is a letter of the summed terms too (`\sum_k e^{q_i k_k^T}`), for a dot
             product with a transpose, for the softmax of a scalar product, for a letter whose value follows from others
             in the section and is printed otherwise, for a network that widens where the document narrows
Result       conditional where renaming or reading mends it, wrong where nothing does
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sympy import Expr

from derivations.documents.judge.shapes.fitting import is_equation
from derivations.documents.judge.shapes.networks import inside_out
from derivations.documents.judge.shapes.repairs import changed_where, reversed_products
from derivations.documents.judge.wording import size_text, source
from derivations.documents.scope import Scope
from derivations.documents.scope.shape_rules import inferred_shape
from derivations.documents.scope.sizes import is_sizelike, size_of
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Call, Fence, Name, Node, Number, Product, Quotient, Transpose
from derivations.documents.verdicts import Finding

__all__ = ["check_consistency"]

_INDEX_LETTERS = "lmjstuvw"


def check_consistency(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield the contradictions within one link, or between it and its section."""
    sides = statement.chain.sides[link + (link > 0) : link + 2] if link is not None else statement.chain.sides[:1]
    for side in sides:
        yield from _clashing_indices(side, statement, scope)
    if link is None:
        return
    left, right = statement.chain.sides[link : link + 2]
    if is_equation(statement.chain.relations[link]):
        for side in sides:
            yield from _softmax_of_a_number(side, statement, scope)
            yield from _dotted_transposes(side, statement, scope)
        yield from _contradicted_setting(left, right, scope)
        yield from _inside_out(statement, link, scope)


# --- one letter for two things ---


def _clashing_indices(side: Node, statement: Statement, scope: Scope) -> Iterator[Finding]:
    for node in side.walk():
        if not isinstance(node, Aggregate):
            continue
        bases = {part.base for part in node.body.walk() if isinstance(part, Name) and part.subscripts}
        for index in node.index:
            if index.base in bases and any(_carries(part, index) for part in node.body.walk()):
                new = next(letter for letter in _INDEX_LETTERS if letter not in _letters(side) | {index.base})
                changed = _renamed(node, index, new, scope)
                renamed = changed_where(side, lambda part, old=node, new=changed: new if part is old else None)  # type: ignore[misc]
                yield Finding(
                    "conditional",
                    "consistency.index",
                    f"{index.base} is the index of the sum and a letter in it: rename the index",
                    right=source((renamed,), statement),
                    assumptions=(f"the index {index.base} and the letter {index.base} are two things",),
                )
                return


def _carries(part: Node, index: Name) -> bool:
    """Return whether a name is the letter of an index and has that index as a subscript: k_k."""
    return isinstance(part, Name) and part.base == index.base and any(index in each.walk() for each in part.subscripts)


def _letters(side: Node) -> set[str]:
    return {part.base for part in side.walk() if isinstance(part, Name)}


def _renamed(aggregate: Aggregate, index: Name, new: str, scope: Scope) -> Aggregate:
    def subscripts(node: Node) -> Node | None:
        if isinstance(node, Name) and node.subscripts and not scope.document.distinctions.is_size(node.key):
            lower = tuple(Name(new) if each == index else each for each in node.subscripts)
            return replace(node, subscripts=lower)
        return None

    indices = tuple(Name(new) if each == index else each for each in aggregate.index)
    return replace(aggregate, body=changed_where(aggregate.body, subscripts), index=indices)


# --- scalar products ---


def _scalar_products(side: Node, scope: Scope) -> Iterator[Product]:
    """Yield products of two vectors that are written with a dot, or with exactly one factor transposed."""
    for node in side.walk():
        if isinstance(node, Product) and len(node.factors) == 2:
            left, right = node.factors
            inner = [each.operand if isinstance(each, Transpose) else each for each in (left, right)]
            turned = isinstance(left, Transpose) != isinstance(right, Transpose)
            if (turned or node.operators == ("dot",)) and all(_is_vector(each, scope) for each in inner):
                yield node


def _is_vector(node: Node, scope: Scope) -> bool:
    if not isinstance(node, Name):
        return False
    return scope.is_vector(node) or inferred_shape(scope, node).rank == 1


def _dotted_transposes(side: Node, statement: Statement, scope: Scope) -> Iterator[Finding]:
    for product in _scalar_products(side, scope):
        left, right = product.factors
        if product.operators == ("dot",) and isinstance(right, Transpose):
            plain = source((replace(product, factors=(left, right.operand)),), statement)
            beside = source((replace(product, operators=("",)),), statement)
            yield Finding(
                "conditional",
                "consistency.dot",
                f"a dot product needs no transpose: it is {plain} for vectors, or {beside} for rows",
                right=plain,
                assumptions=(f"{source((product,), statement)} means the dot product {plain}",),
            )
            return


def _softmax_of_a_number(side: Node, statement: Statement, scope: Scope) -> Iterator[Finding]:
    """Yield a finding for the softmax of a single score such as q k^T / sqrt(d), which is always 1."""
    for node in side.walk():
        if isinstance(node, Call) and node.function.base.lower() == "softmax" and len(node.arguments) == 1:
            argument = node.arguments[0]
            inner = argument
            while isinstance(inner, Quotient | Fence):
                inner = inner.numerator if isinstance(inner, Quotient) else inner.inside
            if not node.function.subscripts and any(found is inner for found in _scalar_products(inner, scope)):
                reason = f"{source((argument,), statement)} is one number, and the softmax of one number is 1"
                yield Finding("wrong", "consistency.softmax", reason, right=_over_all(node, inner, side, statement))
                return


def _over_all(node: Call, inner: Node, side: Node, statement: Statement) -> str | None:
    """Return the softmax with the index that it runs over: softmax_j(q_i k_j^T / sqrt(d))."""
    last = [part for part in inner.walk() if isinstance(part, Name) and part.subscripts]
    if not last:
        return None
    indexed = replace(node, function=replace(node.function, subscripts=last[-1].subscripts))
    return source((changed_where(side, lambda part: indexed if part is node else None),), statement)


# --- numbers ---


def _contradicted_setting(left: Node, right: Node, scope: Scope) -> Iterator[Finding]:
    """Yield a finding if a number contradicts a formula: d_k = 32 where d_k = d_model / h, d_model = 512 and h = 8."""
    if not isinstance(left, Name) or not isinstance(right, Number) or not right.exact or not is_sizelike(right):
        return
    said = size_of(right)
    rules = [value for value in scope.values_of(left.key) if value.free_symbols]
    if len(rules) != 1 or rules[0].is_Symbol:  # several rules are alternatives, and G = H is a special case
        return
    number = _evaluated(rules[0], scope)
    if number is not None and number != said:
        reason = f"{left.key} = {size_text(rules[0])} is {size_text(number)} by the numbers of this section"
        yield Finding("wrong", "consistency.setting", reason, right=f"{left.key} = {size_text(number)}")


def _inside_out(statement: Statement, link: int, scope: Scope) -> Iterator[Finding]:
    found = inside_out(statement, link, scope)
    if found is not None:
        name, needed, width = found
        sides = statement.chain.sides[link : link + 2]
        repaired = (sides[0], reversed_products(sides[1]))
        yield Finding(
            "wrong",
            "consistency.network",
            f"the products need {name.key} to have {size_text(needed)} entries; it has {size_text(width)}",
            right=source(repaired, statement, statement.chain.relations[link : link + 1]),
        )


def _evaluated(value: Expr, scope: Scope) -> Expr | None:
    """Return a value in numbers, where every letter in it is set to one number in this section."""
    settings: dict[Expr, Expr] = {}
    for symbol in value.free_symbols:
        numbers = {each for each in scope.values_of(getattr(symbol, "name", "")) if not each.free_symbols}
        if len(numbers) != 1:
            return None
        settings[symbol] = next(iter(numbers))
    return value.xreplace(settings)
