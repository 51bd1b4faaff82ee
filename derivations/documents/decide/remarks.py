"""What is seen of a statement that nothing decides: remarks on `unknown`, never a success.

Definition   a declaration gives a letter its shape; a definition gives a name to what stands on its right; an arrow
             takes one width to another one
Result       that a shape is declared, and in no other way in its section; that the letters of an equation have kinds
             and sizes under which it fits; that a name is defined, and by no other formula of its section; that an
             arrow is the map of a declared matrix. Nothing where the section says otherwise
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sympy import Expr

from derivations.documents.elaborate import NotElaborated, elaborated
from derivations.documents.elaborate.functions import BY_ENTRY, SOFTMAX
from derivations.documents.elaborate.kinds import declared_sizes
from derivations.documents.elaborate.letters import letters_of
from derivations.documents.scope import Scope
from derivations.documents.scope.sizes import size_of, written_shape
from derivations.documents.statements import Statement
from derivations.documents.syntax import Annotated, Arrow, Call, Entry, Name, Node, Space
from derivations.documents.verdicts import Finding

__all__ = ["remark_on"]

KNOWN = frozenset(BY_ENTRY) | SOFTMAX | {"tr", "trace", "det", "rank", "binom", "factorial", "max", "min"}


def remark_on(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield what is seen of a link, or of a shape that stands alone."""
    mention = scope.document.mention(statement)
    if mention is not None:
        if isinstance(mention.subject, Name):
            yield from _declared(mention.subject, mention.sizes, scope)
        elif scope.is_declared_shape(mention) or mention.example_of is not None:
            yield _seen("shapes.declared", f"{_text(mention.sizes)}, as declared in this section")
        return
    if link is None:
        return
    relation = statement.chain.relations[link]
    left, right = statement.chain.sides[link : link + 2]
    if relation == "∈" and isinstance(right, Space) and isinstance(left, Name):
        sizes = [size_of(each) for each in right.sizes]
        yield from _declared(left, [each for each in sizes if each is not None], scope)
    elif isinstance(relation, Arrow):
        yield from _mapped(left, right, scope)
    elif relation in ("=", ":=", "←", "≡", "≈"):
        yield from _typed(left, right, scope)
        yield from _defined(left, right, scope) if link == 0 else ()


def _seen(check: str, reason: str) -> Finding:
    return Finding("unknown", check, reason)


def _text(sizes: Sequence[Expr]) -> str:
    found = " × ".join(str(each).replace("*", "·") for each in sizes)
    return found if len(sizes) > 1 else f"a vector of {found}"


def _declared(name: Name, sizes: Sequence[Expr], scope: Scope) -> Iterator[Finding]:
    if sizes and not scope.other_shapes(name, tuple(sizes)):
        yield _seen("shapes.declared", f"{name.key} is {_text(sizes)}, and nothing contradicts it")


def _mapped(left: Node, right: Node, scope: Scope) -> Iterator[Finding]:
    """Look for a declared matrix that takes the one width to the other."""
    before, after = (
        written_shape(each.note if isinstance(each, Annotated) else each, bare=True) for each in (left, right)
    )
    if before and after:
        widths = before[-1], after[-1]
        if widths in scope.matrices():
            yield _seen("shapes.map", f"a matrix of {_text(widths)} takes {widths[0]} to {widths[1]}")
        elif widths[0] == widths[1]:
            yield _seen("shapes.map", f"the width stays {widths[0]}")


def _typed(left: Node, right: Node, scope: Scope) -> Iterator[Finding]:
    """Look for kinds and sizes under which both sides fit, where the section declares some of them."""
    letters = letters_of((left, right))
    names = [part for side in (left, right) for part in side.walk() if isinstance(part, Name)]
    if not any(declared_sizes(letters.split(name)[0], scope) is not None for name in names):
        return
    try:
        typing = elaborated((left, right), scope)[0]
    except NotElaborated:
        return
    shape = [str(typing.ranges[place]) for place in typing.ranges if place.name in ("row", "column")]
    yield _seen("shapes.fit", f"the shapes fit: {' × '.join(shape) or 'a number'}")


def _defined(left: Node, right: Node, scope: Scope) -> Iterator[Finding]:
    """See that a name is given to something, and to nothing else in the section."""
    name = left.of if isinstance(left, Entry | Annotated) else left
    if isinstance(name, Call):
        if not all(isinstance(each, Name) for each in name.arguments) or name.function.base.lower() in KNOWN:
            return  # an equation of a function that is known
        name = name.function
    if isinstance(name, Name) and not name.primes and left not in right.walk() and len(scope.definitions(name)) <= 1:
        values = scope.values_of(name.key)
        if len(values) <= 1:
            yield _seen("naming.fit", f"it defines {name.key}, and nothing contradicts it")
