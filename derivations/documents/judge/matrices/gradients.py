r"""Gradients of products of matrices: `\partial L/\partial W = X^T \partial L/\partial Y`, `dX = dY W^T`.

Definition   dA is the gradient of a loss by A, of the shape of A. From Y = P A R follows dA = P^T dY R^T, and from
             Y = P A^T R follows dA = R dY^T P; vectors are matrices of one row or one column
Result       holds where the document defines Y so and the right side is that product, the same factors in the same
             order with the same transposes, letter by letter; conditional where the document defines no Y and one
             order of the two factors has this gradient. Whatever Y is: holds where the right side has the values of
             the gradient, and wrong where it has others and one slip makes the difference
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice

from derivations.documents.budget import current_budget
from derivations.documents.judge.arrays.left_sides import plain
from derivations.documents.judge.matrices.gradient_definitions import claim_of
from derivations.documents.judge.matrices.gradient_letters import gradients_in, marked, written
from derivations.documents.judge.matrices.gradient_of_bias import gradient_of_bias
from derivations.documents.judge.matrices.gradient_surroundings import gradient_forms, letter_below
from derivations.documents.judge.matrices.matrix_words import (
    Factor,
    Word,
    derived,
    gradient_of,
    in_other_layout,
    word_of_product,
)
from derivations.documents.judge.numbers.letters import put
from derivations.documents.judge.wording import source
from derivations.documents.scope import Scope
from derivations.documents.scope.letters import is_weight
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Aggregate,
    Derivative,
    Name,
    Node,
    Product,
    Sum,
    Transpose,
)
from derivations.documents.verdicts import Finding

__all__ = ["check_gradients"]

_CHECK = "gradient"
COST, MOST_NODES = 40_000, 80  # steps that must be left to a formula, and its length, where numbers are compared
_EQUAL = frozenset({"=", ":=", "←"})


def check_gradients(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield what is known of the gradient by a letter: as a product of letters, else by numbers."""
    if link is None or statement.chain.relations[link] not in _EQUAL:
        return
    by = gradient_of(statement.chain.sides[link], scope)
    right = plain(statement.chain.sides[link + 1])
    if by is None:
        return
    numbers = _by_numbers(by, right, statement, link, scope)
    if isinstance(right, Aggregate):
        yield from chain(numbers, gradient_of_bias(by, right, statement, scope))
    else:
        found = next(_of_product(by, right, statement, scope), None)
        is_usual = found is not None and found.verdict == "holds"
        yield from islice(chain(() if is_usual else numbers, filter(None, (found,))), 1)


def _of_product(by: Name, right: Node, statement: Statement, scope: Scope) -> Iterator[Finding]:
    """Yield what is known of the gradient by a factor of a product."""
    claimed = word_of_product(right, scope)
    outer = [each.name for each in claimed.factors if each.gradient] if claimed is not None else []
    if claimed is None or len(outer) != 1 or (len(claimed.factors) < 2 and not outer[0].base.islower()):
        return
    definitions = scope.definitions(outer[0]) if outer[0].base else ()
    if not definitions:
        yield from _of_no_definition(by, outer[0], claimed, statement)
        return
    expected = [each for each in (_expected(by, outer[0], made, scope) for made in definitions) if each is not None]
    if claimed in expected:
        reason = f"this is the gradient of {outer[0].key}, which is defined as a product, by {by.key}"
        yield Finding("holds", _CHECK, reason, result="gradient.product")
    elif in_other_layout(claimed) in expected:
        assumption = "the derivative by a matrix has the shape of its transpose (numerator layout)"
        reason = f"this is the gradient of {outer[0].key} by {by.key} in the other layout"
        yield Finding("conditional", _CHECK, reason, result="gradient.product", assumptions=(assumption,))


def _by_numbers(by: Name, right: Node, statement: Statement, link: int, scope: Scope) -> Iterator[Finding]:
    """Yield whether a formula has the values of the gradient that follows from the definitions of its letters."""
    budget = current_budget()
    if budget.steps - budget.spent < COST or len(list(islice(right.walk(), MOST_NODES + 1))) > MOST_NODES:
        return
    claimed = marked(right, scope)
    below = None if any(gradients_in(claimed)) else letter_below(by, statement, scope)
    claim = claim_of(by, claimed, statement, scope, below)
    verdict = claim.verdict() if claim is not None else None
    if claim is None or verdict is None:
        return
    of = " and ".join(seed.key for seed in claim.seeds)
    if verdict:
        yield Finding("holds", _CHECK, f"the gradient by {by.key} follows from what {of} is, by random numbers")
        return
    forms = gradient_forms(claimed, scope)
    meant = [put(claimed, each) for each in (forms, claim.members) if each]
    others = [claim.by_columns(), *(claim_of(by, each, statement, scope) for each in meant)]
    mended = claim.mended() if not any(other.verdict() for other in others if other is not None) else None
    if mended is not None:
        left = statement.chain.sides[link]
        shown = source((written(mended[0], left),), statement)
        slip = mended[1] if isinstance(left, Derivative) else mended[1].replace("∂", "d")
        reason = f"this is not the gradient by {by.key} that follows from what {of} is: {slip}"
        yield Finding("wrong", _CHECK, reason, f"{statement.text(left.start, left.end)} = {shown}")


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


def _node(factor: Factor) -> Node:
    return Transpose(factor.name) if factor.transposed else factor.name
