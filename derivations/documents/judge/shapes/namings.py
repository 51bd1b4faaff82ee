r"""Equations that give something a name: `Q = X W_Q`, `\text{Score}(i, j) = q_i \cdot k_j`, `h = 8`.

Definition   a naming has on its left a letter, a function of letters or an entry; it claims that the right side makes
             sense and that nothing else is said of the name
Result       holds for a setting that no other number of the section contradicts, for a formula of which every part is
             understood and whose shapes may fit, and for rows written below each other; nothing otherwise
Assumes      a product of a weight with an array follows the convention of its section; where nothing tells it, nothing
             is said; a name that others declare or define is left to the checks of shapes
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from derivations.documents.judge.shapes.fitting import fit
from derivations.documents.judge.shapes.named_rows import rows_below_each_other
from derivations.documents.judge.wording import source
from derivations.documents.scope import Scope
from derivations.documents.scope.functions import ATTENTION, CONCATENATION, KEEPS_SHAPE, folded
from derivations.documents.scope.letters import flat, is_weight
from derivations.documents.scope.sizes import is_sizelike, size_of
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Call,
    Dots,
    Fence,
    List,
    MatrixLiteral,
    Name,
    Node,
    Number,
    Product,
    Quotient,
    Root,
    Sum,
    Transpose,
)
from derivations.documents.verdicts import Finding

__all__ = ["check_namings"]

_FIT = "naming.fit"  # nothing more is seen of a name
_UNDERSTOOD = (Name, Number, Product, Sum, Fence, Call, Transpose, Quotient, Root, List, Dots)


def check_namings(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield that an equation names something, where nothing contradicts it."""
    chain = statement.chain
    if link != 0 or chain.relations[0] not in ("=", ":=", "←"):
        return
    left, right = chain.sides[:2]
    if isinstance(left, Name) and isinstance(right, Number):
        yield from _of_setting(left, right, scope)
    elif isinstance(right, MatrixLiteral):
        yield from rows_below_each_other(left, right, statement, scope)
    elif len(chain.sides) == 2 and _is_naming(left, right, scope) and _may_be(right, scope):
        found = fit((left, right), scope, statement.passage.syntax == "code")
        if not found.clashes and not found.inference.conditions and not found.aside:
            name = source((left,), statement)
            yield Finding("holds", _FIT, f"it names {name}, and nothing contradicts it")


# --- numbers ---


def _of_setting(left: Name, right: Number, scope: Scope) -> Iterator[Finding]:
    """Judge `h = 8`: a size that is set to one number in this section, and that no rule makes another."""
    if not right.exact or not is_sizelike(right) or not scope.document.distinctions.is_size(left.key):
        return
    said = size_of(right)
    if all(value == said for value in scope.values_of(left.key)):
        yield Finding("holds", _FIT, f"it sets {left.key}, and nothing contradicts it")


# --- formulas ---


def _is_naming(left: Node, right: Node, scope: Scope) -> bool:
    """Say whether the left side is a name that has one definition, or a function or an entry of letters."""
    match left:
        case Name(base=base) if len(base) > 0:
            if any(part == left for part in _parts(right)) or scope.is_index(left):
                return False
            one = _indices(right) == _indices(left) and _labels(right) <= {left.base, ""}
            return one and scope.definitions(left) in ((right,), ())
        case Call(arguments=arguments):
            names = {each for each in arguments if isinstance(each, Name)}
            return (
                len(names) == len(arguments) and folded(left.function) not in KEEPS_SHAPE and _indices(right) == names
            )
    return False


def _parts(node: Node) -> Iterator[Node]:
    """Yield the parts of a formula without those inside of names."""
    pending = [node]
    while pending:
        part = pending.pop()
        yield part
        if not isinstance(part, Name):
            pending.extend(reversed(part.children))


def _indices(node: Node) -> set[Name]:
    """Return the letters that the names of a formula carry as indices."""
    names = [part for part in _parts(node) if isinstance(part, Name)]
    carried = [each for name in names for each in flat((*name.subscripts, *name.superscripts))]
    return {each for each in carried if isinstance(each, Name) and len(each.base) == 1 and each.base.islower()}


def _labels(node: Node) -> set[str]:
    """Return the Q of `W_Q`, for the letters of queries, keys and values."""
    names = [part for part in _parts(node) if isinstance(part, Name) and is_weight(part)]
    carried = [each for name in names for each in (*name.subscripts, *name.superscripts)]
    return {each.base for each in carried if isinstance(each, Name) and each.base in ("Q", "K", "V")}


def _may_be(right: Node, scope: Scope) -> bool:
    """Say whether every part of a right side is understood, its products in the order of the section."""
    if isinstance(right, Name | Number | List | Dots):
        return False
    for part in _parts(right):
        if not isinstance(part, _UNDERSTOOD):
            return False
        match part:
            case Call():
                if not _is_in_order(part, scope):
                    return False
            case Sum() if not _is_weighed_sum(part):
                return False
            case Product() if not _is_conventional(part, scope):
                return False
            case Quotient() if not _by_a_number(part, scope):
                return False
    return True


def _is_in_order(call: Call, scope: Scope) -> bool:
    """Say whether a function is the attention of a query, a key and a value, or joins heads from the first on.

    A letter is a query by custom, or as the words of the document call it.
    """
    names = [each for each in call.arguments if isinstance(each, Name)]
    if folded(call.function) in ATTENTION:
        letters = zip(names, (("q", "query"), ("k", "key"), ("v", "value")), strict=False)
        called = scope.document.called
        told = (name.base.lower() == usual or name.base in called.get(role, ()) for name, (usual, role) in letters)
        return len(names) == len(call.arguments) == 3 and all(told)
    return folded(call.function) in CONCATENATION and bool(names) and _texts(names[0].subscripts) == "1"


def _is_weighed_sum(node: Sum) -> bool:
    r"""Say whether a sum is `h_1 w_{11} + h_2 w_{21} + ...`: counted from 1, one index of the weights the same."""
    first: list[str] = []
    second: list[str] = []
    for term, sign in zip(node.terms, node.signs, strict=True):
        inner = term.inside if isinstance(term, Fence) else term
        if isinstance(inner, Dots):
            continue
        names = [each for each in inner.factors if isinstance(each, Name)] if isinstance(inner, Product) else []
        if sign != 1 or len(names) != 2:
            return False
        own, weight = (_texts(name.subscripts) for name in sorted(names, key=lambda name: len(_texts(name.subscripts))))
        if len(own) != 1 or len(weight) != 2 or own not in weight:
            return False
        first.append(own)
        second.append(weight.replace(own, "", 1))
    counted = [text for text in first if text.isdigit()]
    return counted == [str(number) for number in range(1, len(counted) + 1)] and len(set(second)) == 1


def _texts(nodes: Sequence[Node]) -> str:
    """Return the indices of a name as one text, "21" for w_{21} and for w_{2,1}."""
    return "".join(getattr(each, "text", getattr(each, "base", "?")) for each in flat(nodes))


def _by_a_number(part: Quotient, scope: Scope) -> bool:
    return scope.shape(part.denominator) == ()


def _is_conventional(product: Product, scope: Scope) -> bool:
    """Say whether neighbours in a product are a weight and an array in the order of the section, or two vectors."""
    for operator, (left, right) in zip(product.operators, pairwise(product.factors), strict=True):
        if () in (scope.shape(left), scope.shape(right)):
            continue
        if operator == "dot" and all(isinstance(each, Name) and _is_vector(each, scope) for each in (left, right)):
            continue
        weights = tuple(map(scope.document.is_weight, (left, right)))
        wanted = {"rows": (False, True), "columns": (True, False), None: ()}[scope.convention]
        if operator not in ("", "at", "times", "dot") or weights != wanted:
            return False
    return True


def _is_vector(name: Name, scope: Scope) -> bool:
    shape = scope.shape(name)
    return scope.is_vector(name) or (shape is not None and len(shape) == 1) or (shape is None and _is_row(name))


def _is_row(name: Name) -> bool:
    """Say whether a name is written as that of a row is: q_i."""
    return len(name.base) == 1 and name.base.islower() and bool(name.subscripts)
