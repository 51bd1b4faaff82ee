r"""Gradients of products of matrices: `\partial L/\partial W = X^T \partial L/\partial Y`, `dX = dY W^T`.

Definition   dA is the gradient of a loss by A, of the shape of A. From Y = P A R follows dA = P^T dY R^T, and from
             Y = P A^T R follows dA = R dY^T P; vectors are matrices of one row or one column
Result       proved where the document defines Y so and the right side is that product, the same factors in the same
             order with the same transposes; wrong where it is another product of these letters; conditional where the
             document defines no Y and one order of the two factors has this gradient
Assumes      Y has one definition in its section, in which A stands once
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from derivations.documents.judge.arrays.left_sides import plain
from derivations.documents.judge.matrices.matrix_words import (
    Factor,
    Word,
    derived,
    gradient_of,
    in_other_layout,
    word_of_product,
)
from derivations.documents.judge.wording import source
from derivations.documents.scope import Scope
from derivations.documents.scope.letters import is_weight
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Aggregate,
    Derivative,
    Fence,
    Name,
    Negative,
    Node,
    Product,
    Sum,
    Transpose,
)
from derivations.documents.verdicts import Finding

__all__ = ["check_gradients"]

_CHECK = "gradient"
_EQUAL = frozenset({"=", ":=", "←"})


def check_gradients(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield what is known of the gradient by a factor of a product."""
    if link is None or statement.chain.relations[link] not in _EQUAL:
        return
    by = gradient_of(statement.chain.sides[link], scope)
    right = plain(statement.chain.sides[link + 1])
    if by is not None and isinstance(right, Aggregate):
        yield from _of_bias(by, right, scope)
        return
    claimed = word_of_product(right, scope) if by is not None else None
    outer = [each.name for each in claimed.factors if each.gradient] if claimed is not None else []
    if by is None or claimed is None or len(outer) != 1:
        return
    if len(claimed.factors) < 2 and not outer[0].base.islower():
        return
    definitions = scope.definitions(outer[0]) if outer[0].base else ()
    if not definitions:
        yield from _of_no_definition(by, outer[0], claimed, statement)
        return
    expected = [each for each in (_expected(by, outer[0], made, scope) for made in definitions) if each is not None]
    if claimed in expected:
        reason = f"this is the gradient of {outer[0].key}, which is defined as a product, by {by.key}"
        yield Finding("proved", _CHECK, reason, result="gradient.product")
    elif in_other_layout(claimed) in expected:
        assumption = "the derivative by a matrix has the shape of its transpose (numerator layout)"
        reason = f"this is the gradient of {outer[0].key} by {by.key} in the other layout"
        yield Finding("conditional", _CHECK, reason, result="gradient.product", assumptions=(assumption,))
    elif len(expected) == len(definitions) == 1 and _is_of(claimed, expected[0]) and scope.near_definition(outer[0]):
        shown = _shown(expected[0], statement, right)
        reason = f"from what {outer[0].key} is defined as, the gradient by {by.key} is {shown}"
        left = statement.chain.sides[link]
        written = f"{statement.text(left.start, left.end)} = {shown}"
        yield Finding("wrong", _CHECK, reason, written, "gradient.product")


def _of_bias(by: Name, right: Aggregate, scope: Scope) -> Iterator[Finding]:
    """Yield that the gradient by a bias is the sum of the gradients of all rows."""
    row = gradient_of(right.body, scope)
    if right.kind != "sum" or len(right.index) != 1 or row is None or right.index[0] not in row.subscripts:
        return
    whole = replace(row, base=row.base.upper(), subscripts=tuple(s for s in row.subscripts if s != right.index[0]))
    made = [each for name in (row, whole) if (each := scope.near_definition(name)) is not None]
    added = any(isinstance(each, Sum) and by in each.terms for each in made)
    reason = f"the gradient by {by.key}, which is added to every row, is the sum of those of the rows"
    assumption = () if added else (f"{by.key} is added to every row",)
    yield Finding(
        "proved" if added else "conditional", _CHECK, reason, result="linear.gradient", assumptions=assumption
    )


def _is_of(claimed: Word, expected: Word) -> bool:
    """Say whether two products have the same letters and numbers: what differs is order, or what is transposed."""
    letters = [Counter((each.name, each.gradient) for each in word.factors) for word in (claimed, expected)]
    return letters[0] == letters[1] and claimed.numbers == expected.numbers


def _of_no_definition(by: Name, of: Name, claimed: Word, statement: Statement) -> Iterator[Finding]:
    """Yield that a product of two factors is a gradient if Y is the product of a weight and an input, in some order."""
    others = [each.name for each in claimed.factors if not each.gradient]
    if len(claimed.factors) != 2 or len(others) != 1 or is_weight(by) is is_weight(others[0]):
        return
    own, other = Factor(by), Factor(others[0])
    weight, data = (own, other) if is_weight(by) else (other, own)
    for first, second in ((data, weight), (weight, data), (data, weight.flipped), (weight.flipped, data)):
        if derived(by, of, Word((first, second), Counter())) == claimed:
            product = Product(tuple(map(_node, (first, second))), ("",))
            text = source((product,), statement)
            reason = f"this is the gradient of {text} by {by.key}"
            assumption = f"{of.key or 'the output'} is {text}, up to a summand"
            yield Finding("conditional", _CHECK, reason, result="linear.gradient", assumptions=(assumption,))
            return


def _expected(by: Name, of: Name, made: Node, scope: Scope) -> Word | None:
    """Return the gradient by a letter of what a definition makes, if it stands once in a product there."""
    terms = made.terms if isinstance(made, Sum) else (made,)
    words = [(word_of_product(term, scope), term) for term in terms if by in term.walk()]
    if len(words) != 1 or words[0][0] is None or -1 in getattr(made, "signs", ()):
        return None
    return derived(by, of, words[0][0])


# --- what is shown ---


def _shown(word: Word, statement: Statement, claimed: Node) -> str:
    """Return a product as a formula, its gradients as the document writes them."""
    written = {_gradient_key(part): part for part in claimed.walk() if _gradient_key(part)}
    factors = tuple(_node(each, written) for each in word.factors)
    text = source((Product(factors, ("",) * (len(factors) - 1)),), statement)
    return text + "".join(f" {key[:1]} {key[1:]}" for key in sorted(word.numbers.elements()))


def _gradient_key(node: Node) -> str:
    match node:
        case Derivative(by=(Name() as name,)):
            return name.key
        case Name(accent="d"):
            return replace(node, accent="").key
    return ""


def _node(factor: Factor, written: dict[str, Node] | None = None) -> Node:
    node: Node = factor.name
    if factor.gradient:
        node = (written or {}).get(factor.name.key, replace(factor.name, accent="d"))
        node = Fence("(", node) if factor.transposed and isinstance(node, Derivative | Negative) else node
    return Transpose(node) if factor.transposed else node
