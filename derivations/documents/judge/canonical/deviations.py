r"""Whether sigma is the standard deviation, or a variance that is written without its square.

Definition   `\sigma = \frac1d \sum_i (x_i - \mu)^2` beside `\frac{x - \mu}{\sqrt{\sigma + \epsilon}}` has a letter of
             its own for the variance, and both are right; beside `\frac{x - \mu}{\sigma}` the first lacks its root
Result       `may_be_a_variance(left, right, mended, statement, scope)`: a square or a root is all that is missing, and
             nothing around says that the letter is the deviation
"""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents.judge.arrays.left_sides import is_deviation, plain
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name, Node, Power, Quotient, Root, Sum

__all__ = ["may_be_a_variance"]


def may_be_a_variance(left: Node, right: Node, mended: Node, statement: Statement, scope: Scope) -> bool:
    """Return whether sigma may be the variance, if the correction of a formula adds a root or a square of it."""
    if isinstance(left, Name) and is_deviation(left):
        rooted = isinstance(plain(mended), Root) and not isinstance(plain(right), Root)
        others = scope.document.used_in(left, statement)
        return rooted and not any(_has_deviation(each, left) for other in others for each in other.chain.sides)
    squared = {part.base for part in mended.walk() if isinstance(part, Power)} - {
        part.base for part in right.walk() if isinstance(part, Power)
    }
    made = [scope.near_definition(each) for each in squared if isinstance(each, Name) and each.base == "sigma"]
    return any(each is not None and not isinstance(plain(each), Root) for each in made)


def _has_deviation(side: Node, letter: Name) -> bool:
    """Return whether something is divided by a letter, or the letter is squared."""
    divisors = (plain(part.denominator) for part in side.walk() if isinstance(part, Quotient))
    divided = any(letter in _summands(below) for below in divisors)
    return divided or any(isinstance(part, Power) and part.base == letter for part in side.walk())


def _summands(node: Node) -> Iterator[Node]:
    yield from node.terms if isinstance(node, Sum) else (node,)
